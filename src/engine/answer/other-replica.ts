// The answer to a request that another process answers already, or has answered: the same bytes, as they come there. It has no
// record here, and costs nothing.
import { GatewayError } from '../../canonical/index.ts';
import type { Body, Client, ClientStream } from '../call.ts';
import type { AnswerSource } from './answer-exchange.ts';
import { IDEMPOTENCY_HEADER, otherRequest } from './idempotency.ts';
import { refuse, type Refused } from './refuse.ts';

/** When somebody may ask again for what another process is about to tell, in milliseconds. */
const AGAIN_MS = 1000;

/**
 * Gives the client of a call what another process makes.
 * @returns true when the client has a complete, good answer
 */
export async function answerFromOtherReplica(
  refused: Refused,
  source: Exclude<AnswerSource, { readonly type: 'own' }>,
): Promise<boolean> {
  if (source.type !== 'other') {
    refuse(refused, source.type === 'conflict' ? otherRequest() : tooLarge());
    return false;
  }
  const reader = new ReplayedClient(refused.arrival.call.client);
  const end = await source.follow(reader);
  if (end !== 'gone') return end === 'good';
  const { stream } = reader;
  if (!stream) refuse(refused, gone());
  else {
    stream.write(errorFrames(refused, reader.id, gone()), 'text');
    stream.end();
  }
  return false;
}

/** A client that is told that its answer was made for another request. */
class ReplayedClient implements Client {
  id = '';
  stream: ClientStream | undefined;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.#client.respond(status, { ...headers, 'idempotent-replayed': 'true' }, body);
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    this.id = headers['x-request-id'] ?? '';
    this.stream = this.#client.openStream({ ...headers, 'idempotent-replayed': 'true' });
    return this.stream;
  }

  onLeave(left: () => void): void {
    this.#client.onLeave(left);
  }
}

/** The end of a stream that somebody else began. */
function errorFrames({ arrival: { call, createdAt } }: Refused, id: string, error: GatewayError): string {
  const { server } = call.protocol;
  let text = '';
  const encoder = server.encodeStream((frames) => (text += frames), {
    id,
    createdSeconds: Math.floor(createdAt / 1000),
    model: '',
    request: server.decodeRequest(call.json, call.route),
    reasoningContentMirror: false,
    streamAsArray: call.route?.streamAsArray,
  });
  encoder.on({ type: 'start' });
  // The client has the beginning.
  text = '';
  encoder.on({ type: 'error', error });
  return text;
}

function gone(): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    'the process of the gateway that was making this answer is gone; a new request with the same key is answered anew',
    { fault: 'gateway', retryAfterMs: AGAIN_MS },
  );
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'conflict',
    `${IDEMPOTENCY_HEADER}: the answer is being made elsewhere in the gateway, and is too large to be had here meanwhile`,
    { param: IDEMPOTENCY_HEADER, code: 'idempotency_in_progress', retryAfterMs: AGAIN_MS },
  );
}
