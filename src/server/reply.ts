// How an operation that calls no model is answered: authenticated, run, its result or its error sent with the request
// id. Knows no path and no operation.
import type { Principal } from '../accounts/auth/index.ts';
import type { JsonObject } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { retryHeaders } from '../engine/index.ts';
import { mainProtocol, type ServerCodec } from '../protocols/index.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import type { Logger } from '../base/telemetry/log.ts';
import { ANSWER_HEADERS } from './answer-headers.ts';
import type { Hold, MemoryBudget } from './body/memory-budget.ts';
import type { UnixMs } from '../base/units.ts';

export interface ReplyDependencies {
  /** Throws GatewayError `authentication`. The only place where a request becomes somebody's. */
  readonly authenticate: (header: (name: string) => string | null) => Principal;
  /** Reads stored keys again for one that may be new. Null: it is known, or was not made here. */
  readonly lookForKey: (header: (name: string) => string | null) => Promise<unknown> | null;
  readonly now: () => UnixMs;
  readonly log: Logger;
  /** Bytes that the bodies of requests may hold. */
  readonly memory: MemoryBudget;
}

/** How a client speaks, and who it is, where that is not OpenAI's way. */
export interface Manner {
  /** The protocol of its errors. Undefined: the gateway's own. */
  readonly server: ServerCodec | undefined;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** Gives the owner of the request. Absent: its key says it. */
  readonly principal?: (() => Promise<Principal>) | undefined;
}

/**
 * Answers one request. Never rejects: whatever `answer` throws reaches the client as an error of its protocol.
 * @param answer gives the body, or a whole response where a body alone says too little; what it reads of the request
 *   counts for the hold, until it has answered
 */
export async function reply(
  deps: ReplyDependencies,
  request: Request,
  answer: (
    principal: Principal,
    hold: Hold,
    requestId: string,
  ) => JsonObject | Response | Promise<JsonObject | Response>,
  manner?: Manner,
): Promise<Response> {
  const id = newGenerationId(deps.now());
  let hold: Hold | undefined;
  try {
    const principal = await (manner?.principal?.() ?? authenticated(deps, request, manner));
    hold = deps.memory.open(principal.keyId);
    const result = await answer(principal, hold, id);
    if (!(result instanceof Response)) return Response.json(result, { headers: requestIds(id) });
    for (const [name, value] of Object.entries(requestIds(id)))
      if (!result.headers.has(name)) result.headers.set(name, value);
    return result;
  } catch (error) {
    return errorResponse(deps, error, id, manner?.server);
  } finally {
    hold?.release();
  }
}

/** Owner of the key of a request. @throws GatewayError `authentication` */
async function authenticated(
  deps: ReplyDependencies,
  { headers }: Request,
  { header = (name: string) => headers.get(name) }: Partial<Manner> = {},
): Promise<Principal> {
  const look = deps.lookForKey(header);
  if (look) await look;
  return deps.authenticate(header);
}

/** The answer to a request that failed with `thrown`. What is no GatewayError is logged and shown as internal. */
export function errorResponse(
  deps: Pick<ReplyDependencies, 'log'>,
  thrown: unknown,
  id: string,
  server: ServerCodec = mainProtocol.server,
): Response {
  const error = GatewayError.from(thrown);
  // A client that leaves while its body is read makes the runtime throw: nobody is there to be answered.
  if (error.kind === 'internal' && !isAbort(thrown)) deps.log.error('request failed', { id, error: thrown });
  const { status, body } = server.encodeError(error, id);
  const headers: Record<string, string> = { ...ANSWER_HEADERS, ...requestIds(id), ...retryHeaders(error) };
  if (error.allow) headers['allow'] = error.allow.join(', ');
  // Nobody reads what still comes of the body (RFC 9110, section 15.5.9).
  if (error.httpStatus === 408) headers['connection'] = 'close';
  return Response.json(body, { status: error.httpStatus ?? status, headers });
}

/** Headers that name the request, under both of the names that clients read. */
export function requestIds(id: string): Record<string, string> {
  return { 'x-request-id': id, 'request-id': id };
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
