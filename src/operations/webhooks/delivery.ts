// A webhook delivery: its queued message, an attempt to deliver it, and the logged result.
import { createHash } from 'node:crypto';
import type { Announcement, NewJob } from '../../accounts/ports/index.ts';
import { PRIORITY } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import type { WebhookEndpoint } from './endpoints.ts';
import { webhookHeaders } from './sign-webhook.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Job kind of deliveries. */
export const DELIVERY_KIND = 'webhook';
/** Maximum bytes of a message and of its response (Standard Webhooks recommends small payloads). */
const MOST_BYTES = 64 * 1024;
/** Maximum characters of a response in the log. */
const KEPT_CHARS = 4_096;
/** Timeout of a receiver (Standard Webhooks recommends 15 to 30 seconds). */
const TIMEOUT_MS = 15_000;
/** Milliseconds during which a message is retried. */
export const WINDOW_MS = 72 * 3_600_000;
/** Milliseconds that a delivery stays in the log. */
const KEPT_MS = 14 * 24 * 3_600_000;
/** Retry backoff: first pause, factor, and maximum pause. Milliseconds. */
const FIRST_PAUSE_MS = 5_000;
const PAUSE_FACTOR = 4;
const MOST_PAUSE_MS = 12 * 3_600_000;

/** A message to one receiver. */
export interface Delivery {
  readonly endpoint: string;
  /** `webhook-id`: the same for every attempt and for redeliveries. */
  readonly message: string;
  readonly type: string;
  /** JSON as sent. */
  readonly body: string;
  /** True: requested by a user, and therefore also sent to a disabled receiver. */
  readonly isAsked: boolean;
}

/** An attempt, as logged. */
export interface DeliveryAttempt {
  readonly request: { readonly headers: Readonly<Record<string, string>> };
  /** Null: no response. */
  readonly answer: {
    readonly status: number;
    readonly contentType: string | null;
    /** Only its beginning. */
    readonly body: string;
  } | null;
  /** Reason of the failure, as a sentence; null: delivered. */
  readonly failure: string | null;
  readonly durationMs: DurationMs;
}

/** Body of an event. @param seconds Unix time @throws GatewayError `too_large` above 64 kB */
export function eventBody({ id, type, projectId, data }: Announcement, seconds: number): string {
  // Events of projects have OpenAI's form. Others also have a `timestamp`, as in Standard Webhooks.
  const timestamp = projectId === null ? { timestamp: new Date(seconds * 1000).toISOString() } : {};
  const body = JSON.stringify({ object: 'event', id, type, created_at: seconds, ...timestamp, data });
  if (Buffer.byteLength(body) > MOST_BYTES)
    throw new GatewayError('too_large', `The event ${type} is larger than ${MOST_BYTES} bytes.`);
  return body;
}

export function decodeDelivery(payload: string): Delivery {
  return JSON.parse(payload) as Delivery;
}

/** Message id for an event and a receiver. Deterministic, so that repeated announcements do not duplicate it. */
export function messageId(event: Pick<Announcement, 'id'>, { id }: Pick<WebhookEndpoint, 'id'>): string {
  return `msg_${createHash('sha256').update(`${event.id} ${id}`).digest('hex').slice(0, 24)}`;
}

/**
 * A queued delivery. Jobs are owned by the receiver, so that a slow receiver does not delay others.
 * @param nowMs Unix milliseconds
 */
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
 * Milliseconds until a failed message is retried; null: no more retries.
 * @param attempt number of attempts so far
 * @param ageMs milliseconds since the first attempt
 * @param random a number in [0, 1)
 */
export function pauseAfter(attempt: number, ageMs: DurationMs, random: number): number | null {
  if (ageMs >= WINDOW_MS) return null;
  const pause = Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * PAUSE_FACTOR ** (attempt - 1));
  // Jitter of ±25 %, so that messages that failed together are not retried together.
  return Math.min(pause * (0.75 + random / 2), WINDOW_MS - ageMs);
}

/** Makes one attempt. @throws GatewayError `cancelled` if the signal is aborted */
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

/** Status of a receiver that unsubscribes (Standard Webhooks, "Responding to webhooks"). */
export const GONE = 410;

function failureOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `The receiver responded with a redirect (status ${status}). Use its final address.`;
  return `The receiver responded with status ${status}.`;
}
