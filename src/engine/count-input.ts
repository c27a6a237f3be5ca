// How many input tokens a request has: the count of the upstream that would answer it, in whatever protocol that one
// counts; else an estimate. Nothing is answered, recorded or charged.
import type { CanonicalRequest } from '../canonical/index.ts';
import { GatewayError, parseJson } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { countInputTokens } from '../ledger/index.ts';
import { type CountCodec, findProtocol, type Protocol } from '../protocols/index.ts';
import { openCompactions } from '../state/compaction.ts';
import { adaptRequest, ReasoningSeal, resolveReasoning } from './adapt/index.ts';
import { askUpstream, fitRequest, redactedError, type ShortAnswer, targetOf } from './attempt/index.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { operationPath } from './prepared-endpoint.ts';
import { refuseObjects, routeRequest } from './admit/index.ts';
import { needsReading, pointsElsewhere, resolveFiles } from './media/index.ts';
import { toByteString } from '../lib/byte-string.ts';

/** Clients ask before each of their turns: an estimate now is worth more to them than a count later. */
const PATIENCE_MS = 10_000;
/** The upstream speaks the protocol but does not count. */
const NO_SUCH_OPERATION: ReadonlySet<number> = new Set([404, 405, 501]);

export interface Counted {
  readonly tokens: number;
  /** Whose upstream counted; null: the number is an estimate. */
  readonly by: Endpoint | null;
}

/** How an endpoint is asked to count. */
interface Counter {
  readonly endpoint: Endpoint;
  /** In whose form. */
  readonly protocol: Protocol;
  readonly codec: CountCodec;
}

/**
 * Counts.
 * @param decoded the request that the call is about
 * @throws GatewayError for what the request itself would be refused for, here or by the upstream that counts
 */
export async function countInput(
  deps: GatewayDependencies,
  call: ApiCall,
  decoded: CanonicalRequest,
): Promise<Counted> {
  const { projectId } = call.principal;
  const native = call.protocol.server.nativeReasoning;
  const opened = native
    ? new ReasoningSeal(deps.reasoning, projectId, native).opened(decoded.items, decoded.report)
    : decoded.items;
  const whole = openCompactions(opened, projectId, deps.compaction);
  const { mayName } = deps.settings();
  refuseObjects({ ...decoded, items: whole }, call.protocol.server, mayName);
  const request = {
    ...decoded,
    items: await resolveFiles(whole, projectId, deps.media.files, mayName, call.account),
  };
  const counter = counterFor(request, deps, call);
  const counted = counter && (await askToCount(request, counter, deps, call));
  if (counter && counted !== undefined) return { tokens: counted, by: counter.endpoint };
  return { tokens: await countInputTokens(request), by: null };
}

/** Who would answer, where that one counts. Undefined also for a request that names no model. */
function counterFor(
  request: CanonicalRequest,
  deps: GatewayDependencies,
  { principal, body }: ApiCall,
): Counter | undefined {
  if (request.model === '') return undefined;
  const plan = routeRequest(request, {
    settings: deps.settings(),
    principal,
    state: deps.routing,
    limits: deps.limits,
    nowMs: deps.clock.now(),
    inputChars: body.length,
    peek: true,
  });
  const endpoint = plan.candidates[0]?.endpoint;
  if (!endpoint || (endpoint.hosting && !endpoint.hosting.counting)) return undefined;
  const protocol = findProtocol(endpoint.hosting?.counting?.protocol ?? endpoint.protocol);
  return protocol?.counting && { endpoint, protocol, codec: protocol.counting };
}

/** Undefined when the upstream does not count, or not now. */
async function askToCount(
  request: CanonicalRequest,
  counter: Counter,
  deps: GatewayDependencies,
  call: ApiCall,
): Promise<number | undefined> {
  const { endpoint, protocol, codec } = counter;
  const isNative = protocol.name === call.protocol.name;
  // What would be fetched or read for an answer is not worth it for a count.
  if (pointsElsewhere(request) && (!isNative || !endpoint.isVendorRun)) return undefined;
  if (!isNative && needsReading(request, endpoint)) return undefined;
  let body: string;
  try {
    body = encodeCount(request, counter);
  } catch (error) {
    if (isNative || !GatewayError.is(error)) throw error;
    // Another endpoint may be able to say it.
    return undefined;
  }
  const answer = await send(body, counter, deps, call);
  if (!answer) return undefined;
  const { head, text } = answer;
  if (head.status < 300) return codec.decodeCount(parseJson(text));
  // Hosts count for some of their models and in some of their places, and refuse the others as they please; and what a
  // translation may be refused for, the client cannot mend.
  if (endpoint.hosting || !isNative || NO_SUCH_OPERATION.has(head.status)) return undefined;
  const error = protocol.upstream.decodeError(head.status, (name) => head.header(name), text);
  // What the caller has to mend would also be refused as a request; anything else must not keep it from an answer.
  if (error.fault === 'client') throw redactedError(error, deps.redact);
  return undefined;
}

/** A byte string. */
function encodeCount(request: CanonicalRequest, { endpoint, protocol, codec }: Counter): string {
  const report = request.report.fork();
  const adapted = adaptRequest(request, endpoint, protocol, report).request;
  const { request: fitting } = fitRequest(adapted, endpoint, protocol, report);
  const target = targetOf(endpoint, resolveReasoning(fitting, endpoint, report));
  const hosted = endpoint.hosting?.counting && protocol.hosted?.counting;
  const body = (hosted ?? codec).encodeRequest(fitting, target, report);
  return toByteString(JSON.stringify(body));
}

function send(
  body: string,
  { endpoint, protocol, codec }: Counter,
  deps: GatewayDependencies,
  call: ApiCall,
): Promise<ShortAnswer | null> {
  const hosted = endpoint.hosting?.counting;
  return askUpstream(
    endpoint,
    {
      url: endpoint.baseUrl + operationPath(endpoint, codec.pathFor(endpoint.model), hosted),
      hosted,
      passed: {
        headers: call.headers,
        names: protocol.name === call.protocol.name ? protocol.server?.passedHeaders : undefined,
      },
      body,
      tenant: call.principal.keyId,
    },
    {
      upstream: deps.upstream,
      clock: deps.clock,
      timeoutMs: Math.min(PATIENCE_MS, deps.settings().config.routing.timeouts.responseMs),
      onLeave: (left) => call.client.onLeave(left),
    },
  );
}
