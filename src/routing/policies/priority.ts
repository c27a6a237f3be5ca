// The given order, or that of a factor.
import { rankBy } from '../rank.ts';
import type { Policy } from './policy.ts';

export const priority: Policy = {
  type: 'priority',
  order(subjects, { factor }) {
    if (factor) return rankBy(factor, subjects);
    return subjects.map((subject, index) => ({
      subject,
      score: null,
      reason: `priority ${index + 1}`,
    }));
  },
};
