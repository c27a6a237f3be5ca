// Client operations on answers stored at an upstream: found in the project's records, sent to the account that stores
// the answer, and relayed with the gateway's ids.
import { EVENT_STREAM_TYPE } from '../base/lib/event-stream.ts';
import { followedIn, GatewayError } from '../canonical/index.ts';
import { endpointsFor, type Endpoint } from '../catalog/index.ts';
import type { RemoteAnswers, RemoteNames, RemoteOperation } from '../protocols/index.ts';
import { sendToOwner } from './attempt/index.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import type { ClientConnection } from './cancellation.ts';
import { recordDeferredUsage } from './deferred-usage.ts';
import { findRemote, type RemoteAnswer } from './remote-answer.ts';
import { parseJson } from '../base/json/index.ts';
import { toByteString, joined } from '../base/lib/bytes.ts';

const STREAM_HEADERS = {
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

/** An operation on an answer stored at its upstream. */
export interface RemoteCall extends Pick<ApiCall, 'protocol' | 'principal' | 'client' | 'account'> {
  readonly operation: RemoteOperation;
  /** Id of the answer at the gateway. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Relays a request and its answer. Rejects when nothing was sent to the client.
 * @throws GatewayError `not_found` for an answer that is unknown, not stored, or belongs to another project
 */
export async function relayRemote(
  call: RemoteCall,
  clientConnection: ClientConnection,
  deps: GatewayDependencies,
): Promise<void> {
  const { protocol, principal, operation, id } = call;
  const found = await findRemote(id, principal.projectId, protocol.name, deps.ledger);
  const remote = protocol.server.remoteAnswers;
  if (!found || !remote)
    throw new GatewayError('not_found', `${JSON.stringify(id.slice(0, 100))} not found for this API key.`, {
      param: 'id',
    });
  const endpoint = keeperOf(found, call, deps);
  const { baseUrl } = endpoint;
  const query = new URLSearchParams([...call.query].filter(([name]) => operation.query.includes(name)));
  const path = `${protocol.upstream.path}/${encodeURIComponent(found.upstreamId)}${operation.suffix}`;
  const url = `${baseUrl}${path}${query.size > 0 ? `?${query}` : ''}`;
  const { generation } = found;
  const names = {
    id,
    model: generation.model ?? generation.requestedModel,
    follows: followedIn(generation.route),
  };
  const count = (text: string): void => {
    const counts = generation.usage === null ? remote.countsIn(text) : undefined;
    if (counts) recordDeferredUsage(found, counts, endpoint, deps);
  };
  await pass(
    { url, method: operation.method },
    { endpoint, names, remote, count },
    call,
    clientConnection,
    deps,
  );
}

/** Endpoint that stores the answer. The model's endpoints may have changed; any of the same account will do. */
function keeperOf(
  { generation, attempt, provider }: RemoteAnswer,
  { protocol }: RemoteCall,
  { settings }: GatewayDependencies,
): Endpoint {
  const model = generation.model === null ? null : settings().catalog.find(generation.model);
  const endpoints = model ? endpointsFor(model, { protocol: protocol.name }) : [];
  const own = endpoints.filter((each) => each.provider === provider && each.protocol === protocol.name);
  const keeper = own.find(({ slug }) => slug === attempt.endpoint) ?? own[0];
  if (keeper) return keeper;
  throw new GatewayError(
    'upstream_unavailable',
    `${provider}, which stores this response, is no longer configured`,
    {
      fault: 'gateway',
    },
  );
}

/** Facts needed to relay an answer. */
interface Passing {
  /** Endpoint that stores the answer. */
  readonly endpoint: Endpoint;
  readonly names: RemoteNames;
  readonly remote: RemoteAnswers;
  /** Called with each body or event. */
  readonly count: (text: string) => void;
}

/** Resolves once the client has an answer, or has disconnected. */
function pass(
  operation: { readonly url: string; readonly method: RemoteOperation['method'] },
  { endpoint, names, remote, count }: Passing,
  { principal, client, account, headers }: RemoteCall,
  clientConnection: ClientConnection,
  { upstream, clock, ticker, settings, redact }: GatewayDependencies,
): Promise<void> {
  const { timeouts } = settings().config.routing;
  const sent = { ...headers, 'x-dragoman-provider': endpoint.provider };
  return new Promise((resolve, reject) => {
    let stream: ReturnType<typeof client.openStream> | undefined;
    const write = (bytes: string): void => {
      if (!stream) {
        stream = client.openStream({ ...STREAM_HEADERS, ...sent });
        stream.onDrain(() => asked.resume());
      }
      if (!stream.write(bytes, 'bytes')) asked.pause();
    };
    const failed = (error: GatewayError): void => {
      if (!stream) return reject(error);
      write(toByteString(remote.failureFrames(error)));
      stream.end();
      resolve();
    };
    const asked = sendToOwner(
      endpoint,
      operation,
      { upstream, clock, ticker, timeouts, tenant: principal.keyId, account },
      {
        whole(status, body) {
          const text = body.toString();
          // Errors are already in the client's protocol.
          if (status < 300) count(text);
          const shown =
            status < 300 ? joined(remote.patchAnswer(body, parseJson(text), names)) : redact(text);
          client.respond(status, { ...sent, 'content-type': 'application/json' }, shown);
          resolve();
        },
        events(frames) {
          for (const frame of frames) count(frame);
          write(frames.map((frame) => remote.patchFrame(frame, names)).join(''));
        },
        ended() {
          write('');
          stream?.end();
          resolve();
        },
        failed,
      },
    );
    clientConnection.watch();
    clientConnection.cancellation.add({
      cancel(reason) {
        asked.abort();
        if (clientConnection.left) resolve();
        else failed(reason);
      },
    });
  });
}
