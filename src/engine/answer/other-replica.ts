// Answers a request with the bytes that another process produces or has produced for it. It is not recorded here and
// costs nothing.
import { GatewayError } from '../../canonical/index.ts';
import type { Body, Client, ClientStream } from '../call.ts';
import type { AnswerSource } from './answer-exchange.ts';
import { IDEMPOTENCY_HEADER, otherRequest } from './idempotency.ts';
import { refuse, type Refused } from './refuse.ts';

/** Retry delay for an answer that another process is about to have, in milliseconds. */
const RETRY_MS = 1000;

/**
 * Sends the client of a call the answer of another process.
 * @returns true when the client has a complete, successful answer
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

/** Adds the header that marks the answer as replayed. */
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

/** Error frames for the end of a stream that another process began. */
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
  // The client already has the beginning.
  text = '';
  encoder.on({ type: 'error', error });
  return text;
}

function gone(): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    'The gateway process that was generating this response has stopped. Retry with the same key to generate it again.',
    { fault: 'gateway', retryAfterMs: RETRY_MS },
  );
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'conflict',
    `${IDEMPOTENCY_HEADER}: another replica is generating this response, and it is too large to be shared before it is complete. Try again later.`,
    { param: IDEMPOTENCY_HEADER, code: 'idempotency_in_progress', retryAfterMs: RETRY_MS },
  );
}
