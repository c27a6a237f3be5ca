// All routing policies.
import type { RoutingType } from '../../../canonical/index.ts';
import { leastLatency } from './least-latency.ts';
import type { Policy } from './policy.ts';
import { priority } from './priority.ts';
import { roundRobin } from './round-robin.ts';

const byType: Readonly<Record<RoutingType, Policy>> = {
  priority,
  round_robin: roundRobin,
  least_latency: leastLatency,
};

export function policyOf(type: RoutingType): Policy {
  return byType[type];
}
