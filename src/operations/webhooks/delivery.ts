// One delivery: the message as it waits in the queue, one try to deliver it, and what the log keeps of that try.
import { createHash } from 'node:crypto';
import type { Announcement, NewJob } from '../../accounts/ports/index.ts';
import { PRIORITY } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import type { WebhookEndpoint } from './endpoints.ts';
import { webhookHeaders } from './sign-webhook.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Kind of these jobs in the queue. */
export const DELIVERY_KIND = 'webhook';
/** Most bytes of a message, and of the answer to it (Standard Webhooks asks for small payloads). */
const MOST_BYTES = 64 * 1024;
/** Most characters of an answer that the log keeps. */
const KEPT_CHARS = 4_096;
/** A receiver that does not answer within this time has failed (Standard Webhooks asks for 15 to 30 seconds). */
const TIMEOUT_MS = 15_000;
/** How long a message is tried: from the first try to the last, in milliseconds. */
export const WINDOW_MS = 72 * 3_600_000;
/** How long a delivery is in the log, in milliseconds. */
const KEPT_MS = 14 * 24 * 3_600_000;
/** Pauses: the first, how much longer each next one is, and the longest, in milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_FACTOR = 4;
const MOST_PAUSE_MS = 12 * 3_600_000;

/** A message to one receiver. */
export interface Delivery {
  readonly endpoint: string;
  /** `webhook-id`: the same for every try, and where it is sent once more. */
  readonly message: string;
  readonly type: string;
  /** JSON, as it is sent. */
  readonly body: string;
  /** True: somebody asked for it, so that it goes to a disabled receiver, too. */
  readonly isAsked: boolean;
}

/** One try, as the log keeps it. */
export interface DeliveryAttempt {
  readonly request: { readonly headers: Readonly<Record<string, string>> };
  /** Null: none came. */
  readonly answer: {
    readonly status: number;
    readonly contentType: string | null;
    /** Its beginning. */
    readonly body: string;
  } | null;
  /** Why it failed, as a sentence; null: it was taken. */
  readonly failure: string | null;
  readonly durationMs: DurationMs;
}

/** Body of an event. @param seconds Unix time @throws GatewayError `too_large` above 64 kB */
export function eventBody({ id, type, projectId, data }: Announcement, seconds: number): string {
  // Events of projects are as OpenAI's; others have the time as Standard Webhooks writes it, too.
  const timestamp = projectId === null ? { timestamp: new Date(seconds * 1000).toISOString() } : {};
  const body = JSON.stringify({ object: 'event', id, type, created_at: seconds, ...timestamp, data });
  if (Buffer.byteLength(body) > MOST_BYTES)
    throw new GatewayError('too_large', `The event ${type} has more than ${MOST_BYTES} bytes.`);
  return body;
}

export function decodeDelivery(payload: string): Delivery {
  return JSON.parse(payload) as Delivery;
}

/** Id of the message of an event to a receiver: the same, however often it is announced. */
export function messageId(event: Pick<Announcement, 'id'>, { id }: Pick<WebhookEndpoint, 'id'>): string {
  return `msg_${createHash('sha256').update(`${event.id} ${id}`).digest('hex').slice(0, 24)}`;
}

/** A delivery in the queue. Its owner is the receiver, so that a slow one is in nobody else's way. @param nowMs Unix milliseconds */
export function deliveryJob(id: string, delivery: Delivery, nowMs: UnixMs): NewJob {
  return {
    id,
    kind: DELIVERY_KIND,
    projectId: delivery.endpoint,
    keyId: '',
    priority: PRIORITY.interactive,
    lane: null,
    home: null,
    payload: JSON.stringify(delivery),
    expiresAt: nowMs + KEPT_MS,
  };
}

/**
 * When a message is tried again that has failed, in milliseconds from now; null: never.
 * @param attempt how often it was tried @param ageMs since the first try @param random a number in [0, 1)
 */
export function pauseAfter(attempt: number, ageMs: DurationMs, random: number): number | null {
  if (ageMs >= WINDOW_MS) return null;
  const pause = Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * PAUSE_FACTOR ** (attempt - 1));
  // A quarter more or less: what failed together does not come back together.
  return Math.min(pause * (0.75 + random / 2), WINDOW_MS - ageMs);
}

/** Tries once. @throws GatewayError `cancelled` where the signal ends it */
export async function post(
  { message, body }: Delivery,
  { url, secrets }: WebhookEndpoint,
  fetch: Pick<GuardedFetch, 'fetchWhole'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  const seconds = Math.floor(clock.wall() / 1000);
  const headers = {
    'content-type': 'application/json',
    ...webhookHeaders(secrets, { id: message, seconds, body }),
  };
  const begun = clock.now();
  const attempted = (rest: Pick<DeliveryAttempt, 'answer' | 'failure'>): DeliveryAttempt => ({
    request: { headers },
    ...rest,
    durationMs: clock.now() - begun,
  });
  try {
    const { status, header, bytes } = await fetch.fetchWhole(
      { url, method: 'POST', headers, body, redirects: 'none', maxBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS },
      signal,
    );
    const kept = bytes.toString('utf8', 0, 4 * KEPT_CHARS).slice(0, KEPT_CHARS);
    return attempted({
      answer: { status, contentType: header('content-type'), body: kept },
      failure: failureOf(status),
    });
  } catch (error) {
    const failure = GatewayError.from(error);
    if (signal.aborted) throw failure;
    return attempted({ answer: null, failure: failure.message });
  }
}

/** Status of a receiver that wants nothing more (Standard Webhooks, "Responding to webhooks"). */
export const GONE = 410;

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `The receiver redirects (status ${status}): give its final address.`;
  return `The receiver answered with status ${status}.`;
}
