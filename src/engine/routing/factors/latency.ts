// Latency factor: prefers less time to the first content of a stream, or to a whole answer.
import type { Factor, Measured } from './factor.ts';
import type { DurationMs } from '../../../base/units.ts';

export const latency: Factor = {
  name: 'latency',
  measured: true,
  value(subject) {
    const ms = latencyMs(subject);
    return ms === null ? null : 1 / Math.max(ms, 0.1);
  },
  describe(subject) {
    const ms = latencyMs(subject);
    return ms === null
      ? 'not measured yet'
      : `${subject.stream ? 'first token' : 'response'} after ${Math.round(ms)} ms`;
  },
};

/** Milliseconds of the kind that the request waits for, otherwise of the other kind. Null: neither was measured. */
export function latencyMs({ health, stream }: Pick<Measured, 'health' | 'stream'>): DurationMs | null {
  const { firstTokenMs, answerMs } = health;
  return stream ? (firstTokenMs ?? answerMs) : (answerMs ?? firstTokenMs);
}
