// All routing factors, and the one that a name stands for.
import type { RoutingFactor } from '../../../canonical/index.ts';
import { cost } from './cost.ts';
import type { Factor } from './factor.ts';
import { latency } from './latency.ts';
import { quality } from './quality.ts';
import { speed } from './speed.ts';
import { throughput } from './throughput.ts';

export { latency } from './latency.ts';
export type { Factor, Measured } from './factor.ts';

const byName: Readonly<Record<RoutingFactor, Factor>> = { cost, speed, latency, throughput, quality };

export function factorOf(name: RoutingFactor): Factor {
  return byName[name];
}
