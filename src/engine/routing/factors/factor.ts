// A factor: one measure by which the endpoints of a model can be put in order.
import type { RoutingFactor } from '../../../canonical/index.ts';
import type { Endpoint, Model } from '../../../catalog/index.ts';
import type { EndpointHealth } from '../state.ts';
import type { UnixMs } from '../../../base/units.ts';

/** One endpoint, and all that a factor may look at. */
export interface Measured {
  readonly endpoint: Endpoint;
  readonly model: Model;
  readonly health: EndpointHealth;
  readonly nowMs: UnixMs;
  /** Whether the answer will be streamed. */
  readonly stream: boolean;
}

export interface Factor {
  readonly name: RoutingFactor;
  /** True: the value comes from measuring, so endpoints that were not tried yet are explored. */
  readonly measured: boolean;
  /** Greater is better, and twice the value is twice as good; null when unknown. */
  value(subject: Measured): number | null;
  /** The value in words, for the route table. */
  describe(subject: Measured): string;
}
