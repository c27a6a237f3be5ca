// The one that answers soonest, as measured. A factor orders those that answer equally soon.
import { latency } from '../factors/index.ts';
import { rankBy } from '../rank.ts';
import type { Policy } from './policy.ts';

export const leastLatency: Policy = {
  order(subjects, { factor }) {
    // Sorting keeps the order of equals: what the factor put first stays first among them.
    const before =
      factor && !factor.measured ? rankBy(factor, subjects).map(({ subject }) => subject) : subjects;
    return rankBy(latency, before);
  },
};
