// The part of a configuration snapshot that the engine reads. Pinned by each request when it is admitted.
import type { Catalog } from '../catalog/index.ts';
import type { RoutingSettings } from './routing/index.ts';
import type { StreamSettings } from './streams/index.ts';
import type { IdempotencyLimits } from './answer/index.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface Timeouts {
  /** Until the request has been handed to a connection. */
  readonly connectMs: DurationMs;
  /** Streams: until the first content. */
  readonly firstTokenMs: DurationMs;
  /** Calls that are not streamed: until the head of the answer. */
  readonly responseMs: DurationMs;
  /** Longest silence after that. */
  readonly idleMs: DurationMs;
  /** All attempts of a request together. */
  readonly totalMs: DurationMs;
}

const DAY_MS = 86_400_000;

/** When a response made at `createdAt` expires, in Unix milliseconds; null: never. */
export function expiryOf(
  { config }: { readonly config: Pick<EngineConfig, 'state'> },
  createdAt: UnixMs,
): number | null {
  const { retentionDays } = config.state;
  return retentionDays === 0 ? null : createdAt + retentionDays * DAY_MS;
}

/** Sections of the configuration, as they are there. */
export interface EngineConfig {
  readonly routing: RoutingSettings & {
    /** Further tries per endpoint, before the next one. */
    readonly retries: number;
    /** Treatment of an endpoint that asks for a short pause. */
    readonly rateLimited: 'next' | 'wait';
    readonly timeouts: Timeouts;
  };
  /** How long responses and conversations are kept, in days; 0: for ever. */
  readonly state: { readonly retentionDays: number };
  /** True: a parameter that would be dropped is a 400. */
  readonly strict: boolean;
  readonly compatibility: {
    /** Repeat `reasoning` as `reasoning_content`. */
    readonly reasoningContent: boolean;
    /** True: streams of Responses use the words of Open Responses, whatever the client's header says. */
    readonly openResponses: boolean;
    /** True: `stream_options` without a stream is no mistake. */
    readonly ignoreStreamOptions: boolean;
  };
  readonly idempotency: IdempotencyLimits;
  readonly streams: StreamSettings;
  /** Requests of which the content is kept, unless a key says otherwise; false: none. */
  readonly logging: { readonly content: false | 'failures' | 'all' };
  /** Traces: the share of requests whose spans are kept, 0 to 1; null: none are made. */
  readonly telemetry: { readonly otlp: { readonly sample: number } | null };
}

export interface EngineSettings {
  readonly config: EngineConfig;
  readonly catalog: Catalog;
  /** Whether requests may name this object of the operator's account at a vendor. */
  readonly mayName: (id: string) => boolean;
}
