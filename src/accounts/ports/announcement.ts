// The port through which any part announces that something has ended: receivers of webhooks are sent it. Knows neither receivers
// nor how they are reached.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { NewJob } from './jobs.ts';

/** Events of projects, in the words of OpenAI's webhooks (2026-11). */
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
  /** The same for the same event: each receiver gets it once. Made by `eventId`. */
  readonly id: string;
  /** One of `PROJECT_EVENTS`, the type of an alert, or `webhook.test`. */
  readonly type: string;
  /** Project that it is about; null: the gateway, and only receivers of the operator get it. */
  readonly projectId: string | null;
  /** Content that receivers get as `data`: of OpenAI's events `{ id }` alone. */
  readonly data: JsonObject;
}

export interface Announcer {
  /**
   * Queues the deliveries of an event, durably when it resolves. Calls for an event that was announced change nothing, so that
   * whoever goes on with the work of another process may call it again.
   */
  announce(event: Announcement): Promise<void>;
  /** Deliveries as jobs, for whoever adds them in the transaction that makes the event true. */
  deliveriesOf(event: Announcement): Promise<readonly NewJob[]>;
  /** Such jobs were added. */
  wake(): void;
}

/** Id of an event. @param parts name it among all others, e.g. the id of a batch and its end */
export function eventId(...parts: readonly string[]): string {
  return `evt_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)}`;
}
