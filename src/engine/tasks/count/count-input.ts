// Counts the input tokens of a request: by the upstream that would answer it, in any protocol with a counting
// operation, or else by an estimate. Nothing is answered, recorded or charged.
import type { CanonicalRequest } from '../../../canonical/index.ts';
import { asObject, type JsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import { countInputTokens } from '../../../accounts/ledger/index.ts';
import { findProtocol, type Protocol } from '../../../protocols/index.ts';
import type { CountUpstream } from '../../../protocols/tasks/count/codec.ts';
import { COUNT_CODECS } from '../../../protocols/tasks/count/codecs.ts';
import type { HostedOperation } from '../../../catalog/providers/index.ts';
import { openCompactions } from '../../state/compaction.ts';
import { adaptRequest, ReasoningSeal, resolveReasoning } from '../../adapt/index.ts';
import { askUpstream, fitRequest, redactedError, type ShortAnswer, targetOf } from '../../attempt/index.ts';
import type { ApiCall } from '../../call.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import { operationPath } from '../../prepared-endpoint.ts';
import { refuseObjects, routeRequest } from '../../admit/index.ts';
import { needsReading, hasMediaAddresses, resolveFiles } from '../../media/index.ts';
import { slicesOf, type Slices } from '../../../base/lib/bytes.ts';

/** Name of the task in provider data. */
export const COUNT = 'count';

/** Timeout. Clients count before each turn, so an early estimate is worth more than a late count. */
const PATIENCE_MS = 10_000;
/** Statuses of upstreams without a counting operation. */
const NO_SUCH_OPERATION: ReadonlySet<number> = new Set([404, 405, 501]);

export interface Counted {
  readonly tokens: number;
  /** Endpoint whose upstream counted. Null: the number is an estimate. */
  readonly by: Endpoint | null;
  /** The upstream's own answer, if its protocol is the client's. */
  readonly own?: JsonObject | undefined;
}

/** How an endpoint counts. */
interface Counter {
  readonly endpoint: Endpoint;
  /** Protocol of the counting request. */
  readonly protocol: Protocol;
  readonly upstream: CountUpstream;
  /** Path below the endpoint's base URL. */
  readonly path: string;
  /** The host's own operation, if it has one. */
  readonly hosted: HostedOperation | undefined;
}

/**
 * Counts the tokens.
 * @param decoded the request that the call is about
 * @throws GatewayError with which the request itself would be refused, here or by the counting upstream
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
  if (counter && counted) return { ...counted, by: counter.endpoint };
  return { tokens: await countInputTokens(request), by: null };
}

/** The endpoint that would answer, if it can count. Undefined also for a request without a model. */
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
    tasks: deps.tasks,
    nowMs: deps.clock.now(),
    inputChars: body.bytes.length,
    peek: true,
  });
  const endpoint = plan.candidates[0]?.endpoint;
  if (!endpoint) return undefined;
  const { hosting, tasks, model } = endpoint;
  const hosted = hosting?.tasks?.[COUNT];
  const protocol = findProtocol(hosted?.protocol ?? endpoint.protocol);
  const codec = COUNT_CODECS.find((known) => known.protocol === protocol?.name);
  if (!protocol || !codec || (hosting && !hosted)) return undefined;
  const operation = hosted ?? tasks?.[COUNT];
  const own = codec.upstream.pathFor?.(model);
  if (own === undefined && !operation) return undefined;
  const path = operationPath(endpoint, own ?? '', operation);
  const upstream = hosted && codec.hosted ? { ...codec.upstream, ...codec.hosted } : codec.upstream;
  return { endpoint, protocol, upstream, path, hosted };
}

/** Undefined: the upstream does not count, or is not available. */
async function askToCount(
  request: CanonicalRequest,
  counter: Counter,
  deps: GatewayDependencies,
  call: ApiCall,
): Promise<Pick<Counted, 'tokens' | 'own'> | undefined> {
  const { endpoint, protocol, upstream } = counter;
  const isNative = protocol.name === call.protocol.name;
  // Media and documents are not fetched or read just for a count.
  if (hasMediaAddresses(request) && (!isNative || !endpoint.isVendorRun)) return undefined;
  if (!isNative && needsReading(request, endpoint)) return undefined;
  let body: Slices;
  try {
    body = encodeCount(request, counter);
  } catch (error) {
    if (isNative || !GatewayError.is(error)) throw error;
    // Another endpoint may support it.
    return undefined;
  }
  const answer = await send(body, counter, deps, call);
  if (!answer) return undefined;
  const { head, text } = answer;
  if (head.status < 300) {
    const json = parseJson(text);
    const tokens = upstream.decodeCount(json);
    return tokens === undefined ? undefined : { tokens, own: isNative ? asObject(json) : undefined };
  }
  if (head.status === 404) refuseUnknownModel(text, counter, deps);
  // Hosts count only for some models and regions, with various errors otherwise, and the client cannot fix a translated
  // request.
  if (endpoint.hosting || !isNative || NO_SUCH_OPERATION.has(head.status)) return undefined;
  const error = protocol.upstream.decodeError(head.status, (name) => head.header(name), text);
  // The caller's errors would also refuse the request. Other errors must not prevent an answer.
  if (error.fault === 'client') throw redactedError(error, deps.redact);
  return undefined;
}

/**
 * Throws GatewayError `not_found` when the upstream does not know the model, because it would refuse the request too.
 * An error for a missing operation does not name the model.
 */
function refuseUnknownModel(text: string, { endpoint, protocol }: Counter, deps: GatewayDependencies): void {
  const error = protocol.upstream.decodeError(404, () => null, text);
  if (!text.includes('"model_not_found"') && !names(text, endpoint.model)) return;
  const { message } = redactedError(error, deps.redact);
  throw new GatewayError('not_found', message, { param: 'model', code: 'model_not_found' });
}

/** True when a text contains the name outside of a longer word or path. */
function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    // Google writes `models/NAME`.
    const before = text.startsWith('models/', at - 7) ? '' : text.charAt(at - 1);
    if (!/[\w./-]/.test(before + text.charAt(at + name.length))) return true;
  }
  return false;
}

function encodeCount(request: CanonicalRequest, { endpoint, protocol, upstream }: Counter): Slices {
  const report = request.report.fork();
  const adapted = adaptRequest(request, endpoint, protocol, report).request;
  const { request: fitting } = fitRequest(adapted, endpoint, protocol, report);
  const target = targetOf(endpoint, resolveReasoning(fitting, endpoint, report));
  return slicesOf(JSON.stringify(upstream.encodeRequest(fitting, target, report)));
}

function send(
  body: Slices,
  { endpoint, protocol, path, hosted }: Counter,
  deps: GatewayDependencies,
  call: ApiCall,
): Promise<ShortAnswer | null> {
  return askUpstream(
    endpoint,
    {
      url: endpoint.baseUrl + path,
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
