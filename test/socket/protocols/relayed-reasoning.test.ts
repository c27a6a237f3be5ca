// Efforts that clients of Chat Completions say in `reasoning`, the gateway's own member: they reach an upstream of the same protocol
// although the client's bytes go on as they are.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';

const messages = [{ role: 'user', content: 'Hi' }];
/** Reasoning tokens that the simulated model spends on each effort. */
const TOKENS = { none: 0, minimal: 16, low: 32, high: 128 };
const WORDS = Object.entries(TOKENS);

const gateway = await startGateway();
afterAll(() => gateway.close());

/** @returns the lane, and how many reasoning tokens the model spent */
async function ask(wish: object): Promise<readonly [lane: string | null, tokens: number | undefined]> {
  const answer = await gateway.post('/chat/completions', { model: 'sim/chat', messages, ...wish });
  const text = await answer.text();
  const [, tokens] = /"reasoning_tokens":(\d+)/.exec(text) ?? [];
  return [answer.headers.get('x-dragoman-lane'), tokens === undefined ? undefined : Number(tokens)];
}

test.each(WORDS)('`%s` in `reasoning` alone is heeded', async (effort, tokens) => {
  expect(await ask({ reasoning: { effort } })).toEqual(['relay', tokens]);
  const stream = { stream: true, stream_options: { include_usage: true } };
  expect(await ask({ reasoning: { effort }, ...stream })).toEqual(['relay', tokens]);
});

test.each(WORDS)('`%s` in `reasoning` wins over another in `reasoning_effort`', async (effort, tokens) => {
  expect(await ask({ reasoning: { effort }, reasoning_effort: 'medium' })).toEqual(['relay', tokens]);
  expect(await ask({ reasoning: {}, reasoning_effort: effort })).toEqual(['relay', tokens]);
});
