// Rotates through the endpoints. A factor orders those after the first.
import { rankBy, type Ranked } from '../rank.ts';
import type { Policy } from './policy.ts';

export const roundRobin: Policy = {
  order(subjects, { factor, turn }) {
    if (subjects.length === 0) return [];
    const at = turn() % subjects.length;
    const rotated = [...subjects.slice(at), ...subjects.slice(0, at)];
    const [first, ...others] = rotated.map((subject, index): Ranked => ({
      subject,
      score: null,
      reason: index === 0 ? 'its turn' : `turn ${index + 1}`,
    }));
    if (!first) return [];
    const standby = factor
      ? rankBy(
          factor,
          others.map(({ subject }) => subject),
        )
      : others;
    return [first, ...standby];
  },
};
