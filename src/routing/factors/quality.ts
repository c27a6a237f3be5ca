// Stronger and more stable first: the operator's score times the share of attempts that went well.
import type { Factor, Measured } from './factor.ts';

/** Where the operator gave no score: neither good nor bad. */
const UNSCORED = 0.5;

export const quality: Factor = {
  name: 'quality',
  measured: false,
  value: (subject) => scoreOf(subject) * (subject.health.successRate(subject.nowMs) ?? 1),
  describe(subject) {
    const rate = subject.health.successRate(subject.nowMs);
    const stable = rate === null ? '' : `, ${Math.round(rate * 100)} % of recent attempts went well`;
    return `quality ${scoreOf(subject)}${stable}`;
  },
};

function scoreOf({ endpoint, model }: Measured): number {
  return endpoint.quality ?? model.quality ?? UNSCORED;
}
