// The sentence about providers uses the words of their states.
import { expect, test } from 'bun:test';
import { problemsSentence } from '../../../src/operations/management/problems-sentence.ts';

const NONE = { failing: 0, recovering: 0, degraded: 0, rerouted: 0, failed: 0 };

test.each([
  [{}, 'All providers that were asked are healthy.'],
  [
    { failing: 1, degraded: 2, rerouted: 1, failed: 2 },
    '1 provider fails, 2 are degraded; 1 request was rerouted, 2 failed.',
  ],
  [{ failing: 2, recovering: 1 }, '2 providers fail, 1 is recovering; 0 requests were rerouted, 0 failed.'],
  [
    { recovering: 5, degraded: 1, failed: 3 },
    '5 providers are recovering, 1 is degraded; 0 requests were rerouted, 3 failed.',
  ],
  [{ degraded: 1 }, '1 provider is degraded; 0 requests were rerouted, 0 failed.'],
])('%p', (counts, sentence) => {
  expect(problemsSentence({ ...NONE, ...counts })).toBe(sentence);
});
