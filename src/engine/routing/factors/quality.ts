// Stronger and more stable first: the operator's score times the share of attempts that went well. One failure among
// few attempts lowers the share only so far, and less with time: who is not asked could never make up for it.
import type { Factor, Measured } from './factor.ts';

/** Score of an endpoint to which the operator gave none: neither good nor bad. */
const UNSCORED = 0.5;

export const quality: Factor = {
  name: 'quality',
  measured: false,
  value: (subject) => scoreOf(subject) * subject.health.stability(subject.nowMs),
  describe(subject) {
    const stability = subject.health.stability(subject.nowMs);
    return `quality ${scoreOf(subject)}${stability < 1 ? ` × stability ${stability.toFixed(2)}` : ''}`;
  },
};

function scoreOf({ endpoint, model }: Measured): number {
  return endpoint.quality ?? model.quality ?? UNSCORED;
}
