// Requests about answers stored at upstreams: matched by the paths of their protocols, and passed to the engine. They
// have no bodies.
import { type Gateway, type RemoteCall } from '../engine/index.ts';
import { type RemoteOperation, type ServedProtocol, servedProtocols } from '../protocols/index.ts';
import type { Connection } from '../base/runtime/http-server.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { HttpClient } from './http-client.ts';
import { headersOf } from './client-protocol.ts';
import type { LoadWatch } from './load-watch.ts';
import type { MemoryAccount } from './body/memory-budget.ts';
import { errorResponse, type ReplyDependencies, requestIds } from './reply.ts';

export interface RemoteDependencies extends ReplyDependencies {
  readonly gateway: Pick<Gateway, 'relayRemote'>;
  readonly load: Pick<LoadWatch, 'begin'>;
}

/** Operation, and the answer that it concerns. */
interface AnswerCall {
  readonly protocol: ServedProtocol;
  readonly operation: RemoteOperation;
  readonly id: string;
}

/** POST paths for such answers, which precede others in the router. */
export const REMOTE_PATHS: readonly string[] = servedProtocols.flatMap(({ server }) =>
  (server.remoteAnswers?.collections ?? []).map((path) => `${path}/*`),
);

/** Handles a request about an answer stored at an upstream. Undefined: it is another request. */
export function answerRemote(
  deps: RemoteDependencies,
  request: Request,
  connection: Connection,
): Promise<Response> | undefined {
  const url = new URL(request.url);
  const asked = askedAt(request.method, url.pathname);
  return asked && passOn(deps, asked, url.searchParams, request, connection);
}

function askedAt(method: string, pathname: string): AnswerCall | undefined {
  for (const protocol of servedProtocols) {
    const remote = protocol.server.remoteAnswers;
    const collection = remote?.collections.find((path) => pathname.startsWith(`${path}/`));
    if (!remote || collection === undefined) continue;
    const rest = pathname.slice(collection.length + 1);
    const slash = rest.indexOf('/');
    const id = slash < 0 ? rest : rest.slice(0, slash);
    const suffix = rest.slice(id.length);
    const operation = remote.operations.find((each) => each.method === method && each.suffix === suffix);
    if (operation && id !== '') return { protocol, operation, id };
  }
  return undefined;
}

async function passOn(
  deps: RemoteDependencies,
  { protocol, operation, id }: AnswerCall,
  query: URLSearchParams,
  request: Request,
  connection: Connection,
): Promise<Response> {
  const requestId = newGenerationId(deps.now());
  let hold: MemoryAccount | undefined;
  try {
    const principal = deps.authenticate(headersOf(request, protocol.server));
    deps.load.begin(operation.api, principal.keyId);
    connection.disableIdleTimeout();
    const client = new HttpClient(request, connection);
    const headers = requestIds(requestId);
    const account = (hold = deps.memory.open(principal.keyId));
    const call: RemoteCall = { protocol, operation, principal, client, account, id, query, headers };
    deps.gateway
      .relayRemote(call)
      .catch((error: unknown) => client.fail(error))
      .finally(() => account.release());
    return await client.response;
  } catch (error) {
    hold?.release();
    connection.enableIdleTimeout();
    return errorResponse(deps, error, requestId, protocol.server);
  }
}
