// How many input tokens a request has: the count of the upstream that would answer it, where that one speaks the
// client's protocol and counts; else an estimate. Nothing is answered, recorded or charged.
import type { CanonicalRequest } from '../canonical/index.ts';
import { parseJson } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { countInputTokens } from '../ledger/index.ts';
import type { CountCodec } from '../protocols/index.ts';
import { adaptRequest } from './adapt.ts';
import { askUpstream } from './ask-upstream.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { targetOf } from './prepare.ts';
import { resolveReasoning } from './reasoning-policy.ts';
import { redactedError } from './redacted-error.ts';
import { resolveFiles } from './resolve-media.ts';
import { routeRequest } from './route.ts';
import { upstreamHeaders, withClientHeaders } from './upstream-headers.ts';
import { operationPath } from './upstream-url.ts';

/** Clients ask before each of their turns: an estimate now is worth more to them than a count later. */
const PATIENCE_MS = 10_000;
/** The upstream speaks the protocol but does not count. */
const NO_SUCH_OPERATION: ReadonlySet<number> = new Set([404, 405, 501]);

export interface Counted {
  readonly tokens: number;
  /** Whose upstream counted; null: the number is an estimate. */
  readonly by: Endpoint | null;
}

/**
 * Counts.
 * @param call of a protocol that has such an operation
 * @throws GatewayError for what the request itself would be refused for, here or by the upstream that counts
 */
export async function countInput(deps: GatewayDependencies, call: ApiCall): Promise<Counted> {
  const { counting } = call.protocol;
  if (!counting) throw new TypeError(`${call.protocol.name} has no operation that counts`);
  const decoded = counting.decodeRequest(call.json, call.route);
  const items = await resolveFiles(decoded.items, call.principal.keyId, deps.media.files);
  const request = { ...decoded, items };
  const plan = routeRequest(request, {
    settings: deps.settings(),
    principal: call.principal,
    state: deps.routing,
    nowMs: deps.clock.now(),
    inputChars: call.body.length,
    peek: true,
  });
  const endpoint = plan.candidates[0]?.endpoint;
  const isNative =
    endpoint?.protocol === call.protocol.name &&
    (!endpoint.hosting || endpoint.hosting.counting !== undefined);
  const counted = isNative ? await askToCount(request, endpoint, counting, deps, call) : undefined;
  if (endpoint && counted !== undefined) return { tokens: counted, by: endpoint };
  return { tokens: await countInputTokens(request), by: null };
}

/** Undefined when the upstream does not count, or not now. */
async function askToCount(
  request: CanonicalRequest,
  endpoint: Endpoint,
  counting: CountCodec,
  deps: GatewayDependencies,
  { protocol, headers, client }: ApiCall,
): Promise<number | undefined> {
  const report = request.report.fork();
  const adapted = adaptRequest(request, endpoint, protocol, report).request;
  const target = targetOf(endpoint, resolveReasoning(adapted, endpoint, report));
  const { hosting, credential } = endpoint;
  const hosted = hosting?.counting;
  const { encodeRequest } = (hosted && protocol.hosted?.counting) ?? counting;
  const body = JSON.stringify(encodeRequest(adapted, target, report));
  const answer = await askUpstream(
    { credential, hosting: hosting && { ...hosting, set: hosted?.set, remove: hosted?.remove } },
    {
      url: endpoint.baseUrl + operationPath(endpoint, counting.pathFor(endpoint.model), hosted),
      headers: withClientHeaders(
        upstreamHeaders(endpoint, protocol, false),
        headers,
        protocol.server.headerPrefix,
      ),
      body: Buffer.from(body).toString('latin1'),
    },
    {
      upstream: deps.upstream,
      clock: deps.clock,
      timeoutMs: Math.min(PATIENCE_MS, deps.settings().timeouts.responseMs),
      onLeave: (left) => client.onLeave(left),
    },
  );
  if (!answer) return undefined;
  const { head, text } = answer;
  if (head.status < 300) return counting.decodeCount(parseJson(text));
  // Hosts count for some of their models and in some of their places, and refuse the others as they please.
  if (hosted || NO_SUCH_OPERATION.has(head.status)) return undefined;
  const error = protocol.upstream.decodeError(head.status, (name) => head.header(name), text);
  // What the caller has to mend would also be refused as a request; anything else must not keep it from an answer.
  if (error.fault === 'client') throw redactedError(error, deps.redact);
  return undefined;
}
