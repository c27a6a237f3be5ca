// Stream of a job in this process: the existing one that its client reads, or a new one.
import { EVENT_STREAM_TYPE } from '../../base/lib/event-stream.ts';
import { toByteString } from '../../base/lib/bytes.ts';
import { decompress } from '../../base/lib/gzip.ts';
import type { HeldJob, Job, JobView } from '../../accounts/ports/index.ts';
import type { BackgroundCodec } from '../../protocols/index.ts';
import { KeptStream, type KeptStreams } from '../streams/index.ts';
import { decodePayload, protocolOf, type ResponsePayload, currentResponse } from './response-job.ts';

/** Offset of event numbers per try, so that clients cannot confuse events of different tries. */
const NUMBERS_OF_A_TRY = 1_000_000;

const HEADERS = {
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};
/** Number of events sent when an answer is queued. */
const OPENING_EVENTS = 2;
/** Number of the first event of a stream. */
const NUMBER = /"sequence_number":(\d+)/;

/** A stored stream. @param bytes compressed */
export async function openedStream(bytes: Uint8Array): Promise<KeptStream> {
  return openedText((await decompress(bytes)).toString('latin1'));
}

function openedText(text: string): KeptStream {
  const nothing = (): void => {};
  const stream = new KeptStream({
    id: '',
    projectId: '',
    headers: HEADERS,
    writesIds: false,
    first: Number(NUMBER.exec(text)?.[1] ?? 0),
    opening: OPENING_EVENTS,
    patience: Infinity,
    clock: { after: () => nothing },
    resized: nothing,
    moved: nothing,
    ended: nothing,
  });
  stream.write(text, 'bytes');
  stream.end();
  return stream;
}

/** Stream of a job that ended before it began. */
export function neverBegun(job: JobView, payload: ResponsePayload): KeptStream | null {
  const codec = protocolOf(payload).server.background;
  if (!codec) return null;
  const answer = currentResponse(job, payload);
  const frames = [...codec.opening(payload.queued, 0), codec.ending(answer, OPENING_EVENTS)];
  return openedText(toByteString(frames.join('')));
}

/** Ends the stream of such a job. @param job null: it was deleted */
export function endUnbegun(stream: KeptStream, job: Job | null): void {
  const payload = job && decodePayload(job.payload);
  const codec = payload && protocolOf(payload).server.background;
  if (job && codec) stream.write(codec.ending(currentResponse(job, payload), stream.next), 'text');
  stream.end();
}

type Parts = { readonly streams: KeptStreams };

/** Creates a stream that begins with the events of a queued answer. */
export function openStream(
  job: Pick<JobView, 'projectId' | 'attempt'>,
  { id, queued }: Pick<ResponsePayload, 'id' | 'queued'>,
  codec: BackgroundCodec,
  { streams }: Parts,
): KeptStream {
  const first = Math.max(0, job.attempt - 1) * NUMBERS_OF_A_TRY;
  const headers = { ...HEADERS, 'x-request-id': id, 'request-id': id };
  const opening = OPENING_EVENTS;
  const options = {
    opening,
    id,
    projectId: job.projectId,
    headers,
    writesIds: false,
    patience: Infinity,
    first,
  };
  const stream = streams.open(options);
  for (const frame of codec.opening(queued, first)) stream.write(frame, 'text');
  return stream;
}

/** The stream for a job that begins now. */
export function openingStream(
  job: HeldJob,
  payload: ResponsePayload,
  codec: BackgroundCodec,
  parts: Parts,
): KeptStream {
  const found = parts.streams.find(job.projectId, payload.id);
  if (found instanceof KeptStream && !found.hasEnded) {
    if (found.next === found.first + OPENING_EVENTS) return found;
    // Readers of an interrupted try see its end, and start again.
    found.end();
  }
  return openStream(job, payload, codec, parts);
}
