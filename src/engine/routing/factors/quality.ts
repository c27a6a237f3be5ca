// Quality factor: the operator's score times the share of successful attempts. A single failure lowers the share only
// slightly and fades with time, because an avoided endpoint could not recover.
import type { Factor, Measured } from './factor.ts';

/** Neutral score of an endpoint without an operator's score. */
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
