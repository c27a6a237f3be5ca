// Resumes streams that clients have lost: those of this process, of other processes, and of finished jobs. A stream
// that no longer exists is refused with a reason.
import { EVENT_STREAM_TYPE } from '../../base/lib/event-stream.ts';
import { z } from 'zod';
import { GatewayError, TEXTS, notFound } from '../../canonical/index.ts';
import {
  type BackgroundResponses,
  type Client,
  type ClientStream,
  type Gone,
  KeptStream,
  type KeptStreams,
  type RemoteStream,
  type RemoteStreams,
} from '../../engine/index.ts';
import { nextTurn, type Clock } from '../../base/runtime/clock.ts';
import { eventStream } from '../../protocols/index.ts';
import { HttpClient } from '../http-client.ts';
import { eventNumber } from '../list-page.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';
import { generationOf } from '../../base/runtime/ids.ts';

/** Poll interval for a stream that does not exist yet, and its job, in milliseconds. */
const LOOK_MS = 200;
const KEEP_ALIVE_LOOKS = 50;
const GENERATION_ID = /^[0-9a-f]{32}$/;

export interface StreamDependencies {
  readonly streams: KeptStreams;
  /** Streams of other processes. Null: no other process is reachable. */
  readonly remoteStreams: RemoteStreams | null;
  /** True: there may be replicas whose streams cannot be read here. */
  readonly hasUnreachedReplicas: boolean;
  readonly background: BackgroundResponses;
  readonly clock: Pick<Clock, 'after'>;
}

export const STREAM_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    id: 'resumeStream',
    method: 'get',
    path: '/streams/{id}',
    tag: 'Streams',
    summary: 'Resumes a stored stream after the last event that the client received.',
    description:
      'The id is the `x-request-id` of the response. 204: the client has received all events. 410: the stream can no longer be resumed; the message says why. 503: a process that may store it did not respond.',
    params: { id: { description: 'The id of the generation.' } },
    query: z.object({
      after: eventNumber.describe(
        'Number of the last event that the client received. Absent: from the start.',
      ),
    }),
    headers: {
      'last-event-id': { description: 'The same, as sent by an `EventSource`. Overrides `after`.' },
    },
    media: 'text/event-stream',
    answer: eventStream,
    alsoStatus: { 204: null },
    refusals: [404, 410],
    async run(call) {
      const id = call.param('id');
      const generationId = generationOf(id);
      if (!GENERATION_ID.test(generationId)) throw notFound('Stream', id);
      const ids = { id: generationId, jobId: `resp_${generationId}` };
      const followed = await followStream(call, ids, startOf(call.query.after, call.request));
      if (followed) return followed;
      throw gone(call.deps.hasUnreachedReplicas ? 'unreached' : null);
    },
  }),
];

type StreamCall = Pick<ClientCall, 'deps' | 'projectId' | 'request' | 'connection'>;

interface StreamIds {
  /** Generation id of the stream. */
  readonly id: string;
  /** Job that may write the stream. */
  readonly jobId: string;
}

interface Start {
  /** Number of the client's last event. Null: none. */
  readonly after: number | null;
  /** Parameter or header that contains the number. */
  readonly param: string;
}

/**
 * Sends the rest of a stream, then its further events.
 * @param isStored true: other processes need not be searched, because the stored answer can be replayed
 * @returns null when neither a stream nor a job is known
 * @throws GatewayError 410 for a stream that no longer exists
 */
export async function followStream(
  call: StreamCall,
  ids: StreamIds,
  start: Start,
  isStored = false,
): Promise<Response | null> {
  const { deps, projectId } = call;
  const { id, jobId } = ids;
  const { after } = start;
  const found = deps.streams.find(projectId, id);
  if (found instanceof KeptStream) return follow(call, found, start);
  const job = await deps.background.job(projectId, jobId);
  // A stream that has ended is in the database.
  const mayBeRemote = job ? job.state === 'running' : !isStored;
  const other = mayBeRemote ? await deps.remoteStreams?.find(projectId, id) : null;
  if (typeof other === 'object' && other !== null) return followRemote(call, other, start);
  if (!job) {
    const why = found ?? other ?? null;
    if (why === 'silent') throw silent();
    if (why !== null && after !== null) throw gone(why);
    return null;
  }
  if (job.endedAt === null) return followLater(call, ids, start);
  const stream = await deps.background.stream(projectId, jobId);
  if (stream) return follow(call, stream, start);
  // A complete answer can be replayed from its start.
  if (after === null && job.state === 'completed') return null;
  throw gone(found);
}

function follow(call: StreamCall, stream: KeptStream, start: Start): Response | Promise<Response> {
  const from = placeOf(stream, start);
  if (stream.hasEnded && from !== null && from === stream.next - 1) return noContent();
  const client = clientOf(call);
  stream.join(client, from);
  return client.response;
}

type Numbered = Pick<RemoteStream, 'first' | 'next' | 'opening'>;

async function followRemote(call: StreamCall, stream: RemoteStream, start: Start): Promise<Response> {
  const from = placeOf(stream, start);
  if (stream.hasEnded && from !== null && from === stream.next - 1) return noContent();
  const client = clientOf(call);
  const opened = new CutClient(client);
  void sendRemote(stream, opened, from);
  return client.response;
}

async function sendRemote(stream: RemoteStream, client: CutClient, after: number | null): Promise<void> {
  if ((await stream.follow(client, after)) === 'gone') client.cut();
}

/** Converts the number to this stream: each try of a job has its own offset after the same opening events. */
function placeOf({ first, next, opening }: Numbered, { after, param }: Start): number | null {
  if (after === null) return null;
  if (first > 0 && after < opening) return first + after;
  if (after < first)
    throw new GatewayError(
      'not_found',
      'The gateway was interrupted and generates this response again. Read the stream from its start.',
      { httpStatus: 410, code: 'stream_restarted' },
    );
  if (after >= next)
    throw new GatewayError(
      'invalid_request',
      `The stream has no event ${after} yet; the last one is ${next - 1}.`,
      { param },
    );
  return after;
}

/** Status at which clients stop reconnecting (HTML standard, "Server-sent events"). */
function noContent(): Response {
  return new Response(null, { status: 204 });
}

function clientOf({ request, connection }: StreamCall): HttpClient {
  connection.disableIdleTimeout();
  return new HttpClient(request, connection);
}

/** Waits until a job begins here, or has ended in any process. */
function followLater(call: StreamCall, ids: StreamIds, start: Start): Promise<Response> {
  const client = clientOf(call);
  void waitForStream(call, client, ids, start);
  return client.response;
}

async function waitForStream(
  { deps, projectId }: StreamCall,
  client: HttpClient,
  { id, jobId }: StreamIds,
  start: Start,
): Promise<void> {
  let hasLeft = false;
  client.onLeave(() => (hasLeft = true));
  const clientStream = client.openStream({ 'content-type': EVENT_STREAM_TYPE });
  try {
    for (let looks = 1; !hasLeft; looks += 1) {
      const found = deps.streams.find(projectId, id);
      if (found instanceof KeptStream)
        return found.join(new OpenedClient(client, clientStream), placeOf(found, start));
      const job = looks % 5 === 1 ? await deps.background.job(projectId, jobId) : undefined;
      if (job === null) break;
      if (job && job.endedAt !== null) {
        const stream = await deps.background.stream(projectId, jobId);
        if (!stream) break;
        return stream.join(new OpenedClient(client, clientStream), placeOf(stream, start));
      }
      const other = job?.state === 'running' ? await deps.remoteStreams?.find(projectId, id) : null;
      if (typeof other === 'object' && other !== null) {
        const end = await other.follow(new OpenedClient(client, clientStream), placeOf(other, start));
        if (end === 'ended') return;
        break;
      }
      if (looks % KEEP_ALIVE_LOOKS === 0) clientStream.write(': keep-alive\n\n', 'text');
      await new Promise<void>((resolve) => void deps.clock.after(LOOK_MS, resolve));
    }
  } catch {
    // The connection ends without the end of the stream, so the client reconnects.
  }
  await new Promise<void>(nextTurn);
  clientStream.end();
}

/** A client whose stream is already open. */
class OpenedClient implements Client {
  readonly #client: HttpClient;
  readonly #stream: ClientStream;

  constructor(client: HttpClient, stream: ClientStream) {
    this.#client = client;
    this.#stream = stream;
  }

  respond(): void {
    this.#stream.end();
  }

  openStream(): ClientStream {
    return this.#stream;
  }

  onLeave(left: () => void): void {
    this.#client.onLeave(left);
  }
}

/** A client whose stream may end without its last event, so that it reconnects. */
class CutClient implements Client {
  readonly #client: HttpClient;
  #stream: ClientStream | undefined;

  constructor(client: HttpClient) {
    this.#client = client;
  }

  respond(...answer: Parameters<Client['respond']>): void {
    this.#client.respond(...answer);
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    return (this.#stream = this.#client.openStream(headers));
  }

  onLeave(left: () => void): void {
    this.#client.onLeave(left);
  }

  cut(): void {
    if (this.#stream) return this.#stream.end();
    this.#client.fail(silent());
  }
}

const REASONS: Readonly<Record<Gone | 'unreached' | 'unknown', string>> = {
  expired: 'its retention time has passed (`streams.keep_s`)',
  memory: 'it was removed to free memory (`streams.max_mb`)',
  unreached:
    'this replica does not store it; without Redis, each stream is stored only on the replica that generated it. Send the request to that replica, or set `redis_url`',
  unknown: 'it was not stored, its response was deleted, or its retention time has passed',
};

function silent(): GatewayError {
  const message = 'A process that may store this stream did not respond. Try again.';
  const options = { fault: 'gateway', httpStatus: 503, retryAfterMs: 1_000 } as const;
  return new GatewayError('upstream_unavailable', message, options);
}

/** 410: the stream existed, or may have. */
function gone(why: Gone | 'unreached' | null): GatewayError {
  return new GatewayError('not_found', `This stream cannot be resumed: ${REASONS[why ?? 'unknown']}.`, {
    httpStatus: 410,
    code: 'stream_gone',
  });
}

/**
 * The client's last event, from its header or query. An `EventSource` connects again to the same address, with the header: it
 * has then received more than its query says.
 */
function startOf(asked: number | undefined, { headers }: Request): Start {
  const param = 'last-event-id';
  const text = headers.get(param);
  if (text === null || text === '') return { after: asked ?? null, param: 'after' };
  const read = eventNumber.safeParse(text);
  if (read.success && read.data !== undefined) return { after: read.data, param };
  throw new GatewayError('invalid_request', `${param}: ${TEXTS.mustBeEventNumber}`, { param });
}
