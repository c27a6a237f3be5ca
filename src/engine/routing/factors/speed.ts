// Sooner done first: first token and pace together, over an answer of usual length.
import type { Factor, Measured } from './factor.ts';
import { latencyMs } from './latency.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Tokens of the answer that endpoints are compared by. */
const USUAL_ANSWER_TOKENS = 500;
/** Speed to expect while only the first token was measured. */
const USUAL_TOKENS_PER_SECOND = 50;

export const speed: Factor = {
  name: 'speed',
  measured: true,
  value(subject) {
    const ms = answerTimeMs(subject);
    return ms === null ? null : 1 / Math.max(ms, 0.1);
  },
  describe(subject) {
    const ms = answerTimeMs(subject);
    return ms === null
      ? 'not measured yet'
      : `an answer of ${USUAL_ANSWER_TOKENS} tokens takes ${Math.round(ms)} ms`;
  },
};

function answerTimeMs(subject: Measured): DurationMs | null {
  const first = latencyMs(subject);
  if (first === null) return null;
  const pace = subject.health.tokensPerSecond ?? USUAL_TOKENS_PER_SECOND;
  return first + (USUAL_ANSWER_TOKENS / pace) * 1000;
}
