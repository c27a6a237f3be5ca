// The sentence about problems uses the words of their states.
import { expect, test } from 'bun:test';
import { problemsSentence } from '../../../src/operations/management/problems-sentence.ts';

const NONE = {
  asked: 6,
  failing: 0,
  recovering: 0,
  degraded: 0,
  rerouted: 0,
  failed: 0,
  budgets: 0,
  low_budgets: 0,
  expiring: 0,
};

test.each([
  [{}, 'All providers called in the last 24 hours are healthy.'],
  // Nothing is known of whom nobody asked.
  [{ asked: 0 }, 'No provider was called in the last 24 hours.'],
  [
    { failing: 1, degraded: 2, rerouted: 1, failed: 2 },
    '1 provider fails, 2 are degraded; 1 request was rerouted, 2 failed.',
  ],
  [{ failing: 2, recovering: 1 }, '2 providers fail, 1 is recovering; 0 requests were rerouted, 0 failed.'],
  [
    { recovering: 5, degraded: 1, failed: 3 },
    '5 providers are recovering, 1 is degraded; 0 requests were rerouted, 3 failed.',
  ],
  [{ budgets: 1 }, 'All providers called in the last 24 hours are healthy. 1 budget is used up.'],
  [
    { failing: 1, failed: 3, budgets: 2, expiring: 1 },
    '1 provider fails; 0 requests were rerouted, 3 failed. 2 budgets are used up, 1 key expires soon.',
  ],
  [
    { budgets: 1, low_budgets: 2 },
    'All providers called in the last 24 hours are healthy. 1 budget is used up, 2 budgets are too low.',
  ],
  [{ degraded: 1 }, '1 provider is degraded; 0 requests were rerouted, 0 failed.'],
])('%p', (counts, sentence) => {
  expect(problemsSentence({ ...NONE, ...counts })).toBe(sentence);
});
