// Estimates the complexity of a request when it is not given. A deterministic table of points, independent of models.
import type { Complexity } from '../../canonical/index.ts';
import { estimateOf } from './task-complexity.ts';
import type { RequestFacts } from './request-facts.ts';

const MEDIUM_FROM = 2;
const HIGH_FROM = 5;

/**
 * Estimates the complexity from the sum of points: below 2 `low`, from 5 `high`, otherwise `medium`.
 *
 * | sign                                                    | points |
 * |---------------------------------------------------------|--------|
 * | prompt over 2,000 / 8,000 / 40,000 characters           | 1 / 2 / 3 |
 * | over 4 / over 12 messages of the user                   | 1 / 2  |
 * | tools offered: any / over 5                             | 1 / 2  |
 * | a tool has been used already                            | 1      |
 * | reasoning requested / effort `high` or more, or a budget of 8,192 tokens or more | 1 / 3 |
 * | the answer must satisfy a JSON schema                   | 1      |
 * | a fenced block of code in a user message                | 1      |
 * | an image, a file or audio                               | 1      |
 * | the task, by the words of the last message              | 0 and more: `task-complexity.ts` |
 */
export function estimateComplexity(facts: RequestFacts): Complexity {
  const points =
    steps(facts.characters, 2_000, 8_000, 40_000) +
    steps(facts.turns, 4, 12) +
    steps(facts.tools, 0, 5) +
    Number(facts.toolResults) +
    { none: 0, some: 1, much: 3 }[facts.reasoning] +
    Number(facts.format === 'json_schema') +
    Number(facts.code) +
    Number(facts.modalities.size > 0) +
    estimateOf(facts.asked);
  if (points < MEDIUM_FROM) return 'low';
  return points < HIGH_FROM ? 'medium' : 'high';
}

/** Number of limits that a value exceeds. */
function steps(value: number, ...limits: readonly number[]): number {
  return limits.filter((limit) => value > limit).length;
}
