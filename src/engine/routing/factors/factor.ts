// A factor: a measure by which the endpoints of a model are ordered.
import type { RoutingFactor } from '../../../canonical/index.ts';
import type { Endpoint, Model } from '../../../catalog/index.ts';
import type { EndpointHealth } from '../state.ts';
import type { UnixMs } from '../../../base/units.ts';

/** One endpoint, and everything that a factor may use. */
export interface Measured {
  readonly endpoint: Endpoint;
  readonly model: Model;
  readonly health: EndpointHealth;
  readonly nowMs: UnixMs;
  /** True: the answer will be streamed. */
  readonly stream: boolean;
}

export interface Factor {
  readonly name: RoutingFactor;
  /** True: the value is measured, so endpoints without measurements are explored. */
  readonly measured: boolean;
  /** Greater is better, and twice the value is twice as good. Null: unknown. */
  value(subject: Measured): number | null;
  /** The value as text, for the route table. */
  describe(subject: Measured): string;
}
