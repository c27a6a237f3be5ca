// Serves model operations: reads the body once, checks the key, passes the call on, and reports failures in the
// client's protocol.
import type { Principal } from '../accounts/auth/index.ts';
import { NO_JSON, readMembers } from '../base/json/index.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { ApiCall, Gateway } from '../engine/index.ts';
import type { ClientOperation, RequestRoute, ServedProtocol, ServerCodec } from '../protocols/index.ts';
import type { Connection } from '../base/runtime/http-server.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { announcedBytes, parseBody, parseForm, receiveBody } from './body/body.ts';
import type { BodyReader } from './body/body-reader.ts';
import { headersOf } from './client-protocol.ts';
import type { FailedKeys } from './failed-keys.ts';
import { HttpClient } from './http-client.ts';
import type { LoadWatch } from './load-watch.ts';
import type { MemoryAccount } from './body/memory-budget.ts';
import type { RefusedProjects } from './refused-projects.ts';
import { errorResponse, type ReplyDependencies } from './reply.ts';

export interface ServeDependencies extends ReplyDependencies {
  readonly gateway: Gateway;
  readonly bodies: BodyReader;
  /** False while the process starts or drains. */
  readonly ready: () => boolean;
  readonly load: LoadWatch;
  readonly failedKeys: FailedKeys;
  readonly refusedProjects: RefusedProjects;
}

/** Answers a call. Throws GatewayError when nothing was sent to the client. */
export type Service<Dependencies extends ServeDependencies = ServeDependencies> = (
  deps: Dependencies,
  call: ApiCall,
) => Promise<unknown>;

export interface Operation<Dependencies extends ServeDependencies = ServeDependencies> {
  readonly protocol: ServedProtocol;
  /** Name in the records. */
  readonly api: string;
  readonly does: ClientOperation['does'];
  readonly takes?: ClientOperation['takes'];
  /** Members given by the address, if it contains more than the path. */
  readonly route?: RequestRoute;
  readonly service: Service<Dependencies>;
}

/** Serves one request. */
export async function serveOperation<Dependencies extends ServeDependencies>(
  deps: Dependencies,
  operation: Operation<Dependencies>,
  request: Request,
  connection: Connection,
): Promise<Response> {
  const { protocol, api, route, takes, service } = operation;
  const header = headersOf(request, protocol.server);
  let hold: MemoryAccount | undefined;
  try {
    if (!deps.ready()) return goingAway(deps, protocol.server);
    const announced = announcedBytes(request);
    deps.load.admit(announced);
    const found = authenticated(deps, header);
    const principal = found instanceof Promise ? await found : found;
    hold = deps.memory.open(principal.keyId);
    const received = await receiveBody(request, announced, deps.bodies, hold);
    // The body is complete. From now on the engine's own timeouts apply to the upstream.
    connection.disableIdleTimeout();
    deps.load.begin(api, principal.keyId);
    const client = new HttpClient(request, connection);
    const call: ApiCall = {
      protocol,
      api,
      ...(route && { route }),
      principal,
      request,
      body: NO_JSON,
      json: undefined,
      header,
      headers: request.headers,
      client,
      account: hold,
    };
    const isLikely = operation.does === 'answer' && deps.gateway.refusalOf(call) !== null;
    const turn = isLikely ? deps.refusedProjects.turn(principal.projectId, request) : null;
    if (turn && !(await turn)) throw new GatewayError('cancelled', TEXTS.clientClosed);
    const refusing = isLikely ? refuseUnread(deps.gateway, call, received) : null;
    if (takes === 'form')
      Object.assign(call, await parseForm(received, request.headers.get('content-type') ?? ''));
    else if (!refusing) withBody(call, received);
    const answering = refusing ?? service(deps, call);
    // The response may be complete before the records are stored; the client does not wait for them.
    const held = hold;
    answering.then(
      // Released when the call ends, because its body may be sent again until then.
      () => held.release(),
      (error) => {
        held.release();
        client.fail(error);
      },
    );
    const answer = await client.response;
    return deps.refusedProjects.look(answer, principal.projectId, isLikely);
  } catch (error) {
    hold?.release();
    connection.enableIdleTimeout();
    const answer = errorResponse(deps, error, newGenerationId(deps.now()), protocol.server);
    return deps.failedKeys.look(answer, connection);
  }
}

/** Principal of the key: immediately if it is known, otherwise after reloading the stored keys. */
function authenticated(
  deps: ServeDependencies,
  header: (name: string) => string | null,
): Principal | Promise<Principal> {
  try {
    return deps.authenticate(header);
  } catch (error) {
    const look = deps.lookForKey(header);
    if (look === null) throw error;
    return look.then(() => deps.authenticate(header));
  }
}

/** Sets the body of the call. Throws GatewayError. */
function withBody(call: ApiCall, received: Buffer): void {
  const { body, json } = parseBody(received);
  call.body = body;
  call.json = json;
}

/** Refuses a request over its limits. @returns null when capacity is available, or the body must be parsed to decide */
function refuseUnread(gateway: Gateway, call: ApiCall, received: Buffer): Promise<void> | null {
  const { outline } = call.protocol.server;
  if (!outline || gateway.refusalOf(call) !== 'unread') return null;
  const members = readMembers(received, outline.members);
  const outlined = members && outline.decode(members, call.route);
  return outlined ? gateway.refuseUnread(call, outlined) : null;
}

/** 503 while the process drains: closes the client's connection, so that a retry reaches another process. */
function goingAway(deps: ServeDependencies, server: ServerCodec): Response {
  const error = new GatewayError('upstream_unavailable', TEXTS.shuttingDownTryAgain, {
    fault: 'gateway',
    httpStatus: 503,
    retryAfterMs: 1000,
  });
  const answer = errorResponse(deps, error, newGenerationId(deps.now()), server);
  answer.headers.set('connection', 'close');
  return answer;
}
