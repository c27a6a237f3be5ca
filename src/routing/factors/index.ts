// Every factor, one line each.
import type { RoutingFactor } from '../../canonical/index.ts';
import { cost } from './cost.ts';
import type { Factor } from './factor.ts';
import { latency } from './latency.ts';
import { quality } from './quality.ts';
import { speed } from './speed.ts';
import { throughput } from './throughput.ts';

export { baseRate } from './cost.ts';
export { latency } from './latency.ts';
export type { Factor, Measured } from './factor.ts';

const all: readonly Factor[] = [cost, speed, latency, throughput, quality];
const byName = new Map(all.map((factor) => [factor.name, factor]));

/** The factor of a name. Throws TypeError for a name that is in the list of words but not here: a defect. */
export function factorOf(name: RoutingFactor): Factor {
  const factor = byName.get(name);
  if (!factor) throw new TypeError(`no factor ${name}`);
  return factor;
}
