// Speed factor: prefers less total time, from first token and throughput, for an answer of typical length.
import type { Factor, Measured } from './factor.ts';
import { latencyMs } from './latency.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Tokens of the answer that is used for comparison. */
const USUAL_ANSWER_TOKENS = 500;
/** Assumed throughput while only the first token was measured. */
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
    return ms === null ? 'not measured yet' : `${Math.round(ms)} ms for ${USUAL_ANSWER_TOKENS} output tokens`;
  },
};

function answerTimeMs(subject: Measured): DurationMs | null {
  const first = latencyMs(subject);
  if (first === null) return null;
  const pace = subject.health.tokensPerSecond ?? USUAL_TOKENS_PER_SECOND;
  return first + (USUAL_ANSWER_TOKENS / pace) * 1000;
}
