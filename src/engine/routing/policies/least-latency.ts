// Prefers the lowest measured latency. A factor orders endpoints of equal latency.
import { latency } from '../factors/index.ts';
import { rankBy } from '../rank.ts';
import type { Policy } from './policy.ts';

export const leastLatency: Policy = {
  order(subjects, { factor }) {
    // Sorting is stable, so the factor's order is kept among equals.
    const before =
      factor && !factor.measured ? rankBy(factor, subjects).map(({ subject }) => subject) : subjects;
    return rankBy(latency, before);
  },
};
