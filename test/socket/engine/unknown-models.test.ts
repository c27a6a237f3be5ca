// Models that no catalog knows, at upstreams that define the client's protocol: what the client said of reasoning goes as
// it was said; what the catalog knows to be refused goes with a report.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const over = (provider: string, protocol: string, model = 'tomorrow-1'): object => ({
  id: `${protocol}/${model}`,
  endpoints: [{ provider, model, protocol }],
});
const upstream = await startUpstream();
const gateway = await startGateway({
  providers: {
    openai: { api_key: 'sk-test', base_url: `${upstream.origin}/v1` },
    anthropic: { api_key: 'sk-test', base_url: upstream.origin },
    google: { api_key: 'sk-test', base_url: `${upstream.origin}/v1beta` },
  },
  models: [
    over('openai', 'openai-responses'),
    over('openai', 'openai-responses', 'gpt-4o'),
    over('openai', 'openai-chat'),
    over('anthropic', 'anthropic-messages'),
    over('google', 'gemini'),
  ],
  routing: { retries: 0, breaker: { failures: 1000 } },
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

async function ask(path: string, body: object, answer: object): Promise<{ sent: Json; report: string }> {
  upstream.script(whole(answer));
  const response = await gateway.post(path, body);
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  return {
    sent: upstream.requests.at(-1)?.json as Json,
    report: response.headers.get('x-dragoman-report') ?? '',
  };
}

test('Responses: effort and encrypted content pass, in both lanes', async () => {
  const include = ['reasoning.encrypted_content'];
  const model = 'openai-responses/tomorrow-1';
  for (const effort of ['high', 'none']) {
    for (const more of [{ store: false }, { truncation: 'auto' }]) {
      const body = { model, input: 'Hi', include, reasoning: { effort }, ...more };
      const { sent, report } = await ask('/responses', body, responsesBody([]));
      expect(at(sent, 'reasoning', 'effort')).toBe(effort);
      expect(at(sent, 'include')).toEqual(include);
      expect(report).toBe('');
    }
  }
});

test('Responses: unknown members of reasoning pass, and so does a summary alone, in both lanes', async () => {
  const model = 'openai-responses/tomorrow-1';
  for (const more of [{ store: false }, { truncation: 'auto' }]) {
    const reasoning = { context: 'all_turns', summary: 'auto' };
    const { sent, report } = await ask(
      '/responses',
      { model, input: 'Hi', reasoning, ...more },
      responsesBody([]),
    );
    expect(at(sent, 'reasoning')).toEqual(reasoning);
    expect(report).toBe('');
  }
  const known = {
    model: 'openai-responses/gpt-4o',
    input: 'Hi',
    truncation: 'auto',
    reasoning: { summary: 'auto' },
  };
  const { report } = await ask('/responses', known, responsesBody([]));
  expect(report).toBe('reasoning.summary:dropped');
});

test("Chat Completions: OpenAI's own breakpoints pass", async () => {
  const part = { type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } };
  const messages = [{ role: 'user', content: [part] }];
  const { sent, report } = await ask(
    '/chat/completions',
    { model: 'openai-chat/tomorrow-1', messages },
    chatBody('Hi'),
  );
  expect(at(sent, 'messages', 0, 'content', 0)).toEqual(part);
  expect(report).toBe('');
});

test('Responses: a model that is known not to reason loses them with a report', async () => {
  const body = {
    model: 'openai-responses/gpt-4o',
    input: 'Hi',
    truncation: 'auto',
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high' },
  };
  const { sent, report } = await ask('/responses', body, responsesBody([]));
  expect([at(sent, 'reasoning'), at(sent, 'include')]).toEqual([undefined, undefined]);
  expect(report).toContain('include:dropped');
  expect(report).toContain('reasoning.effort:dropped');
});

test('Chat Completions: the effort passes', async () => {
  const body = {
    model: 'openai-chat/tomorrow-1',
    reasoning_effort: 'high',
    messages: [{ role: 'user', content: 'Hi' }],
  };
  const { sent, report } = await ask('/chat/completions', body, chatBody('Hi'));
  expect([at(sent, 'reasoning_effort'), report]).toEqual(['high', '']);
});

test('Messages: an effort, and every kind of thinking, pass', async () => {
  for (const words of [
    { output_config: { effort: 'high' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    { thinking: { type: 'disabled' } },
  ]) {
    const body = {
      model: 'anthropic-messages/tomorrow-1',
      max_tokens: 4000,
      messages: [{ role: 'user', content: 'Hi' }],
      ...words,
    };
    const { sent, report } = await ask(
      '/messages',
      body,
      messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'),
    );
    expect(sent).toMatchObject(words as Record<string, unknown>);
    expect(report).toBe('');
  }
});

test('Gemini: a budget of nothing, and others, pass', async () => {
  for (const thinkingConfig of [{ thinkingBudget: 0 }, { thinkingBudget: 500 }, { thinkingLevel: 'high' }]) {
    const answer = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
    };
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { thinkingConfig },
    };
    const { sent, report } = await ask('/models/gemini/tomorrow-1:generateContent', body, answer);
    expect(at(sent, 'generationConfig', 'thinkingConfig')).toMatchObject(thinkingConfig);
    expect(report).toBe('');
  }
});
