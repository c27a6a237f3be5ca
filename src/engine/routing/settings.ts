// The part of the configuration that routing reads.
import type { RoutingWishes } from '../../canonical/index.ts';
import type { DurationMs } from '../../base/units.ts';

export interface BreakerSettings {
  /** Failures within the window that open it, when they are at least half of the attempts there. */
  readonly failures: number;
  readonly windowMs: DurationMs;
  /** How long an endpoint is left alone. */
  readonly openMs: DurationMs;
}

export interface RoutingSettings {
  /** Wishes of requests where neither the request nor its key says anything. */
  readonly defaults: RoutingWishes;
  /** Models by task type, for `model_routing_config.task_info.task_type`. */
  readonly taskTypes: Readonly<Record<string, readonly string[]>>;
}
