// Handles operations that call no model: authenticates, runs, and sends the result or error with the request id.
import type { Principal } from '../accounts/auth/index.ts';
import type { JsonObject } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { retryHeaders } from '../engine/index.ts';
import { mainProtocol, type ServerCodec } from '../protocols/index.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import type { Logger } from '../base/telemetry/log.ts';
import { ANSWER_HEADERS } from './answer-headers.ts';
import type { MemoryAccount, MemoryBudget } from './body/memory-budget.ts';
import type { UnixMs } from '../base/units.ts';

export interface ReplyDependencies {
  /** The only place where a request is authenticated. Throws GatewayError `authentication`. */
  readonly authenticate: (header: (name: string) => string | null) => Principal;
  /** Reloads stored keys for one that may be new. Null: it is known, or was not issued here. */
  readonly lookForKey: (header: (name: string) => string | null) => Promise<unknown> | null;
  readonly now: () => UnixMs;
  readonly log: Logger;
  /** Memory accounting of request bodies. */
  readonly memory: MemoryBudget;
}

/** Protocol and authentication of a client, if they differ from OpenAI's. */
export interface ClientStyle {
  /** Protocol of its errors. Undefined: the gateway's own. */
  readonly server: ServerCodec | undefined;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** Returns the principal of the request. Absent: its key identifies it. */
  readonly principal?: (() => Promise<Principal>) | undefined;
}

/**
 * Handles one request. Never rejects: errors of `answer` are sent in the client's protocol.
 * @param answer returns the body, or a whole response if a body does not suffice; the request data that it reads counts
 * for the hold until it has finished
 */
export async function reply(
  deps: ReplyDependencies,
  request: Request,
  answer: (
    principal: Principal,
    hold: MemoryAccount,
    requestId: string,
  ) => JsonObject | Response | Promise<JsonObject | Response>,
  style?: ClientStyle,
): Promise<Response> {
  const id = newGenerationId(deps.now());
  let hold: MemoryAccount | undefined;
  try {
    const principal = await (style?.principal?.() ?? authenticated(deps, request, style));
    hold = deps.memory.open(principal.keyId);
    const result = await answer(principal, hold, id);
    if (!(result instanceof Response)) return Response.json(result, { headers: requestIds(id) });
    for (const [name, value] of Object.entries(requestIds(id)))
      if (!result.headers.has(name)) result.headers.set(name, value);
    return result;
  } catch (error) {
    return errorResponse(deps, error, id, style?.server);
  } finally {
    hold?.release();
  }
}

/** Authenticates a request by its key. @throws GatewayError `authentication` */
async function authenticated(
  deps: ReplyDependencies,
  { headers }: Request,
  { header = (name: string) => headers.get(name) }: Partial<ClientStyle> = {},
): Promise<Principal> {
  const look = deps.lookForKey(header);
  if (look) await look;
  return deps.authenticate(header);
}

/** Response to a request that failed with `thrown`. Other errors than GatewayError are logged and shown as internal. */
export function errorResponse(
  deps: Pick<ReplyDependencies, 'log'>,
  thrown: unknown,
  id: string,
  server: ServerCodec = mainProtocol.server,
): Response {
  const error = GatewayError.from(thrown);
  // The runtime throws when a client disconnects while its body is read, so there is no one to respond to.
  if (error.kind === 'internal' && !isAbort(thrown)) deps.log.error('request failed', { id, error: thrown });
  const { status, body } = server.encodeError(error, id);
  const headers: Record<string, string> = { ...ANSWER_HEADERS, ...requestIds(id), ...retryHeaders(error) };
  if (error.allow) headers['allow'] = error.allow.join(', ');
  // The rest of the body is not read (RFC 9110, section 15.5.9).
  if (error.httpStatus === 408) headers['connection'] = 'close';
  return Response.json(body, { status: error.httpStatus ?? status, headers });
}

/** Request id headers, under both names that clients read. */
export function requestIds(id: string): Record<string, string> {
  return { 'x-request-id': id, 'request-id': id };
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
