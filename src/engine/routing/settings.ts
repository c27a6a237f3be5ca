// Configuration that routing reads.
import type { RoutingWishes } from '../../canonical/index.ts';
import type { DurationMs } from '../../base/units.ts';

export interface BreakerSettings {
  /** Failures within the window that open the breaker, if they are at least half of its attempts. */
  readonly failures: number;
  readonly windowMs: DurationMs;
  /** Time for which an endpoint is avoided. */
  readonly openMs: DurationMs;
}

export interface RoutingSettings {
  /** Default preferences, overridden by key and request. */
  readonly defaults: RoutingWishes;
  /** Models by task type, for `model_routing_config.task_info.task_type`. */
  readonly taskTypes: Readonly<Record<string, readonly string[]>>;
}
