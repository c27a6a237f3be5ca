// Port for announcing events, which are delivered to the receivers of webhooks.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { NewJob } from './jobs.ts';

/** Events of projects, with the names of OpenAI's webhooks (2026-11). */
export const PROJECT_EVENTS = [
  'response.completed',
  'response.failed',
  'response.incomplete',
  'response.cancelled',
  'batch.completed',
  'batch.failed',
  'batch.expired',
  'batch.cancelled',
] as const;

export interface Announcement {
  /** Id of the event, from `eventId`. Each receiver gets it once. */
  readonly id: string;
  /** One of `PROJECT_EVENTS`, the type of an alert, or `webhook.test`. */
  readonly type: string;
  /** Project of the event; null: an event of the gateway, for the operator's receivers only. */
  readonly projectId: string | null;
  /** Content of `data`: only `{ id }` for OpenAI's events. */
  readonly data: JsonObject;
}

export interface Announcer {
  /**
   * Queues the deliveries of an event. They are durable when it resolves. Idempotent, so that a process that continues
   * another one's work may call it again.
   */
  announce(event: Announcement): Promise<void>;
  /** Deliveries as jobs, to add them in the transaction that causes the event. */
  deliveriesOf(event: Announcement): Promise<readonly NewJob[]>;
  /** Starts the delivery of jobs that were added by the caller. */
  wake(): void;
}

/** Id of an event. @param parts unique identification, e.g. the id of a batch and its outcome */
export function eventId(...parts: readonly string[]): string {
  return `evt_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)}`;
}
