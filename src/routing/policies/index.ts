// Every policy, one line each.
import type { RoutingType } from '../../canonical/index.ts';
import { leastLatency } from './least-latency.ts';
import type { Policy } from './policy.ts';
import { priority } from './priority.ts';
import { roundRobin } from './round-robin.ts';

export type { Policy } from './policy.ts';

const all: readonly Policy[] = [priority, roundRobin, leastLatency];
const byType = new Map(all.map((policy) => [policy.type, policy]));

/** The policy of a type. Throws TypeError for one that is in the list of words but not here: a defect. */
export function policyOf(type: RoutingType): Policy {
  const policy = byType.get(type);
  if (!policy) throw new TypeError(`no policy ${type}`);
  return policy;
}
