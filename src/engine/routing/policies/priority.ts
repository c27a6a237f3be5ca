// Keeps the given order; a factor orders the endpoints after the preferred ones.
import { rankBy, type Ranked } from '../rank.ts';
import type { Policy } from './policy.ts';

export const priority: Policy = {
  order(subjects, { factor, preferred }) {
    const given = subjects.map((subject, index): Ranked => ({
      subject,
      score: null,
      reason: `priority ${index + 1}`,
    }));
    return factor ? [...given.slice(0, preferred), ...rankBy(factor, subjects.slice(preferred))] : given;
  },
};
