// The part of a configuration snapshot that the engine reads. Pinned by each request when it is admitted.
import type { Catalog } from '../catalog/index.ts';
import type { RoutingSettings } from '../routing/index.ts';
import type { IdempotencyLimits } from './answer/index.ts';

export interface Timeouts {
  /** Until the request has been handed to a connection. */
  readonly connectMs: number;
  /** Streams: until the first content. */
  readonly firstTokenMs: number;
  /** Calls that are not streamed: until the head of the answer. */
  readonly responseMs: number;
  /** Longest silence after that. */
  readonly idleMs: number;
  /** All attempts of a request together. */
  readonly totalMs: number;
}

const DAY_MS = 86_400_000;

/** When a response made at `createdAt` expires, in Unix milliseconds; null: never. */
export function expiryOf(
  { retentionDays }: Pick<EngineSettings, 'retentionDays'>,
  createdAt: number,
): number | null {
  return retentionDays === 0 ? null : createdAt + retentionDays * DAY_MS;
}

export interface EngineSettings {
  readonly routing: RoutingSettings;
  readonly catalog: Catalog;
  /** Whether requests may name this object of the operator's account at a vendor. */
  readonly mayName: (id: string) => boolean;
  /** Further tries per endpoint, before the next one. */
  readonly retries: number;
  /** True: an endpoint that asks for a short pause is waited for before the next one is tried. */
  readonly waitsForLimits: boolean;
  readonly timeouts: Timeouts;
  /** How long responses and conversations are kept, in days; 0: for ever. */
  readonly retentionDays: number;
  /** True: a parameter that would be dropped is a 400. */
  readonly strict: boolean;
  /** True: `stream_options` without a stream is no mistake. */
  readonly ignoresStreamOptions: boolean;
  /** Repeat `reasoning` as `reasoning_content`. */
  readonly reasoningContentMirror: boolean;
  readonly idempotency: IdempotencyLimits;
}
