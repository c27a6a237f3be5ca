// Live events of the gateway: completed requests, endpoint state changes, alerts.
import { EVENT_STREAM_TYPE, eventFrame } from '../../../base/lib/event-stream.ts';
import { z } from 'zod';
import { ALERT_TYPES } from '../../alerts/index.ts';
import type { LiveEvent } from '../../events/index.ts';
import { eventStream } from '../../../protocols/index.ts';
import { ACTIVE_PARTS, Activity } from '../activity.ts';
import { generationSummarySchema } from '../generation-summary.ts';
import { route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';
import { pushBody } from '../../../base/runtime/http-server.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { LossyQueue } from '../lossy-queue.ts';

const TYPES = ['generation', 'endpoint', 'alert', 'activity'] as const;

const eventSchemas = {
  generation: generationSummarySchema,
  endpoint: z.object({
    model: z.string(),
    endpoint: z.string(),
    state: z.enum(['closed', 'open', 'half-open']),
    until: z.iso.datetime().nullable(),
    reason: z.string().nullable(),
  }),
  alert: z.object({
    type: z.enum(ALERT_TYPES),
    message: z.string(),
    data: z.record(z.string(), z.unknown()),
  }),
  lost: z.object({ events: z.int() }),
  activity: z.object({ changed: z.array(z.enum(ACTIVE_PARTS)) }),
} satisfies Record<ClientEvent['type'] | 'activity', z.ZodType>;

export const EVENT_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/events',
    tag: 'Events',
    summary: 'Streams new events as server-sent events.',
    description:
      'The `event` is one of these. `generation`: a request has ended; `data` is as in the list of generations. `endpoint`: a breaker changed its state. `alert`: an alert, such as a budget that reached 50, 80 or 100 %, or an opened breaker. `activity`: parts of this API whose responses may have changed (`changed`: first segments of their paths), at most once a second. `lost`: number of missing `events`, because the reader was too slow or other processes sent too many. With workers or a `redis_url`, the stream includes events of all processes. A comment every 15 seconds keeps the stream alive. The stream ends within two seconds if the key becomes invalid, and when the gateway stops.',
    query: z.strictObject({
      types: z
        .string()
        .meta({ pattern: `^ *(?:${TYPES.join('|')}) *(?:, *(?:${TYPES.join('|')}) *)*$` })
        .optional()
        .describe('Types of events, separated by commas. Default: all.')
        .transform((given) => given?.split(',').map((type) => type.trim()) ?? [...TYPES])
        .pipe(z.array(z.enum(TYPES))),
    }),
    answer: eventStream,
    media: 'text/event-stream',
    run: ({ deps, query, reader }) => {
      const wanted = new Set<string>(query.types);
      reader.stays();
      return streamOf({
        clock: deps.clock,
        signal: reader.signal,
        mayRead: reader.mayRead,
        open: (write, close) => {
          const activity =
            wanted.has('activity') &&
            new Activity(deps.clock, (changed) =>
              write('activity', { changed: [...changed] } satisfies Data['activity']),
            );
          const stop = deps.events.listen((event) => {
            if (event.type !== 'change' && (event.type === 'lost' || wanted.has(event.type)))
              write(event.type, dataOf(event));
            if (activity) activity.note(event);
          }, close);
          return () => {
            stop();
            if (activity) activity.stop();
          };
        },
      });
    },
  }),
];

/** Other changes are only published as activity. */
type ClientEvent = Exclude<LiveEvent, { type: 'change' }>;
type Data = { readonly [Type in keyof typeof eventSchemas]: z.input<(typeof eventSchemas)[Type]> };

function dataOf(event: ClientEvent): Data[ClientEvent['type']] {
  switch (event.type) {
    case 'generation':
      return event.summary() as Data['generation'];
    case 'endpoint': {
      const { modelId, slug, state, until, reason } = event.change;
      return { model: modelId, endpoint: slug, state, until: isoTime(until), reason };
    }
    case 'alert': {
      const { type, message, data } = event.alert;
      return { type, message, data: { ...data } };
    }
    case 'lost':
      return { events: event.events };
  }
}

// Streams events to one admin. The queue is bounded, idle connections get heartbeats, and the stream ends when the
// reader's access ends.

/** Maximum queued events of a slow reader. Beyond that, the oldest are dropped. */
const MOST_WAITING = 500;
/** Milliseconds between heartbeats. */
const HEARTBEAT_MS = 15_000;
/**
 * Milliseconds between access checks. A revoked key is known to a process within a second; together that is less than
 * the documented two seconds.
 */
const LOOK_MS = 500;

export interface EventStreamOptions {
  readonly clock: Pick<Clock, 'every'>;
  /** Aborted when the reader disconnects. */
  readonly signal: AbortSignal;
  /** False once the reader's access has ended. */
  readonly mayRead: () => boolean;
  /** Starts the events. @returns a function that stops them */
  readonly open: (write: (event: string, data: unknown) => void, close: () => void) => () => void;
}

const HEADERS = {
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

function streamOf({ clock, signal, mayRead, open }: EventStreamOptions): Response {
  const body = pushBody();
  const frameOf = (event: string, data: unknown): string => eventFrame(event, JSON.stringify(data));
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
  // Sends the response head immediately, so that the reader knows it is connected.
  queue.push(': connected\n\n');
  return new Response(body.stream, { headers: HEADERS });
}
