// Events of the gateway as a stream to one admin: bounded, kept alive, and over as soon as whoever reads it may
// no longer. Knows not what the events are.
import { pushBody } from '../../base/runtime/http-server.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { LossyQueue } from './lossy-queue.ts';

/** Events that wait for a reader who is slow; of more, the oldest are lost. */
const MOST_WAITING = 500;
/** How often something is sent though nothing happens. */
const HEARTBEAT_MS = 15_000;
/** How often it is asked whether the reader still may read. A process knows of a revoked key after a second at most; both
 * together are less than the two seconds that are documented. */
const LOOK_MS = 500;

export interface EventStreamOptions {
  readonly clock: Pick<Clock, 'every'>;
  /** Aborted when the reader has left. */
  readonly signal: AbortSignal;
  /** False once the reader may no longer read. */
  readonly mayRead: () => boolean;
  /** Begins to tell. @returns what ends that */
  readonly open: (write: (event: string, data: unknown) => void, close: () => void) => () => void;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

export function eventStream({ clock, signal, mayRead, open }: EventStreamOptions): Response {
  const body = pushBody();
  const frameOf = (event: string, data: unknown): string =>
    `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
  const queue = new LossyQueue(
    (frame) => body.write(frame),
    (events) => frameOf('lost', { events }),
    MOST_WAITING,
  );
  body.onDrain(() => queue.drained());
  let isOver = false;
  const write = (event: string, data: unknown): void => {
    if (!isOver) queue.push(frameOf(event, data));
  };
  const close = (): void => {
    if (isOver) return;
    isOver = true;
    stopBeating();
    stopLooking();
    stop();
    signal.removeEventListener('abort', close);
    body.end();
  };
  const stopLooking = clock.every(LOOK_MS, () => {
    if (!mayRead()) close();
  });
  const stopBeating = clock.every(HEARTBEAT_MS, () => queue.offer(': heartbeat\n\n'));
  const stop = open(write, close);
  signal.addEventListener('abort', close, { once: true });
  // The head goes out with the first bytes: a reader wants to know that it is connected.
  queue.push(': connected\n\n');
  return new Response(body.stream, { headers: HEADERS });
}
