// What happens in the gateway, as an event stream to one admin: bounded, kept alive, and over as soon as whoever reads it may
// no longer. Knows not what the events are.
import { pushBody } from '../runtime/http-server.ts';
import type { Clock } from '../runtime/clock.ts';

/** Events that wait for a reader who is slow; of more, the oldest are lost. */
const MOST_WAITING = 500;
/** How often something is sent though nothing happens, and asked whether the reader still may read. */
const HEARTBEAT_MS = 15_000;

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
  let waiting: string[] = [];
  let lost = 0;
  let isFull = false;
  let isOver = false;
  const send = (frame: string): void => {
    isFull = !body.write(frame);
  };
  const write = (event: string, data: unknown): void => {
    if (isOver) return;
    const frame = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (!isFull) return send(frame);
    waiting.push(frame);
    if (waiting.length <= MOST_WAITING) return;
    waiting.shift();
    lost += 1;
  };
  body.onDrain(() => {
    isFull = false;
    const frames = waiting;
    waiting = [];
    if (lost > 0) write('lost', { events: lost });
    lost = 0;
    if (frames.length > 0) send(frames.join(''));
  });
  const close = (): void => {
    if (isOver) return;
    isOver = true;
    stopBeating();
    stop();
    signal.removeEventListener('abort', close);
    waiting = [];
    body.end();
  };
  const stopBeating = clock.every(HEARTBEAT_MS, () => {
    if (!mayRead()) return close();
    if (!isFull) send(': heartbeat\n\n');
  });
  const stop = open(write, close);
  signal.addEventListener('abort', close, { once: true });
  // The head goes out with the first bytes: a reader wants to know that it is connected.
  send(': connected\n\n');
  return new Response(body.stream, { headers: HEADERS });
}
