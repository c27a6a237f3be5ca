// Configuration snapshot for the engine. Each request keeps the snapshot with which it was admitted.
import type { Catalog } from '../catalog/index.ts';
import type { RoutingSettings } from './routing/index.ts';
import type { StreamSettings } from './streams/index.ts';
import type { IdempotencyLimits } from './answer/index.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface Timeouts {
  /** Until the request was passed to a connection. */
  readonly connectMs: DurationMs;
  /** Streams: until the first content. */
  readonly firstTokenMs: DurationMs;
  /** Other calls: until the head of the answer. */
  readonly responseMs: DurationMs;
  /** Longest silence afterwards. */
  readonly idleMs: DurationMs;
  /** All attempts of a request together. */
  readonly totalMs: DurationMs;
}

const DAY_MS = 86_400_000;

/** Expiry of a response made at `createdAt`, in Unix milliseconds. Null: never. */
export function expiryOf(
  { config }: { readonly config: Pick<EngineConfig, 'state'> },
  createdAt: UnixMs,
): number | null {
  const { retentionDays } = config.state;
  return retentionDays === 0 ? null : createdAt + retentionDays * DAY_MS;
}

export interface EngineConfig {
  readonly routing: RoutingSettings & {
    /** Retries per endpoint before the next one. */
    readonly retries: number;
    /** Behaviour when an endpoint asks for a short delay. */
    readonly rateLimited: 'next' | 'wait';
    readonly timeouts: Timeouts;
  };
  /** Retention of responses and conversations, in days. 0: unlimited. */
  readonly state: { readonly retentionDays: number };
  /** True: a parameter that would be dropped is a 400. */
  readonly strict: boolean;
  readonly compatibility: {
    /** True: repeats `reasoning` as `reasoning_content`. */
    readonly reasoningContent: boolean;
    /** True: Responses streams use the Open Responses variant, regardless of the client's header. */
    readonly openResponses: boolean;
    /** True: `stream_options` without a stream is accepted. */
    readonly ignoreStreamOptions: boolean;
  };
  readonly idempotency: IdempotencyLimits;
  readonly streams: StreamSettings;
  /** Requests whose content is logged, unless the key overrides it. False: none. */
  readonly logging: { readonly content: false | 'failures' | 'all' };
  /** Share of requests with traces, from 0 to 1. Null: tracing is off. */
  readonly telemetry: { readonly otlp: { readonly sample: number } | null };
}

export interface EngineSettings {
  readonly config: EngineConfig;
  readonly catalog: Catalog;
  /** True: requests may name this object in the operator's vendor account. */
  readonly mayName: (id: string) => boolean;
}
