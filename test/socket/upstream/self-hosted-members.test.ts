// Knowledge that only the server has: members of its own in requests of Responses, wishes about reasoning for models that no catalog
// knows, and an endpoint of the Interactions API of which nothing but its address is said.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { rejection } from '../../support/rejection.ts';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { INTERACTION } from '../../support/upstreams/interactions.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const upstream = await startUpstream();
const base_url = `${upstream.origin}/v1`;
const gateway = await startGateway({
  providers: {
    vllm: { base_url },
    groq: { api_key: 'sk-test', base_url },
    own: {
      api_key: 'sk-test',
      protocols: {
        'openai-chat': base_url,
        'openai-responses': base_url,
        'anthropic-messages': upstream.origin,
      },
    },
    google2: { api_key: 'sk-test', protocols: { 'gemini-interactions': `${upstream.origin}/v1beta` } },
  },
  models: ['openai-chat', 'openai-responses', 'anthropic-messages'].map((protocol) => ({
    id: `own/${protocol}`,
    endpoints: [{ provider: 'own', model: 'tomorrow-1', protocol }],
  })),
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

async function ask(path: string, body: object, answer: object): Promise<[unknown, string | null]> {
  upstream.script(whole(answer));
  const response = await gateway.post(path, body);
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  return [upstream.requests.at(-1)?.json, response.headers.get('x-dragoman-report')];
}

const OWN = {
  structured_outputs: { regex: '[0-9]+' },
  guided_json: { type: 'object' },
  chat_template_kwargs: { add_vision_id: true },
  top_k: 20,
  repetition_penalty: 1.1,
};

test.each(['vllm/qwen-tomorrow', 'own/openai-chat'])(
  '%s gets members of its own from a client of Responses',
  async (model) => {
    const more = { max_tool_calls: 3, client_metadata: { session: 'x' } };
    const [sent, report] = await ask(
      '/responses',
      { model, input: 'Hi', ...OWN, ...more },
      chatBody('Hello'),
    );
    expect(sent).toMatchObject(OWN);
    for (const name of Object.keys(more)) {
      expect(sent).not.toHaveProperty(name);
      expect(report).toContain(`${name}:dropped`);
    }
    expect(report).not.toContain('structured_outputs');
  },
);

test('a vendor that refuses unknown members gets none of them, and each is reported', async () => {
  const body = { model: 'groq/tomorrow-1', input: 'Hi', ...OWN };
  const [sent, report] = await ask('/responses', body, chatBody('Hello'));
  for (const name of Object.keys(OWN)) {
    expect(sent).not.toHaveProperty(name);
    expect(report).toContain(`${name}:dropped`);
  }
});

test("a template's members are joined with the switch that the gateway writes", async () => {
  const body = { model: 'vllm/qwen-tomorrow', messages: [{ role: 'user', content: 'Hi' }] };
  const [sent, report] = await ask(
    '/chat/completions',
    { ...body, reasoning_effort: 'high', chat_template_kwargs: OWN.chat_template_kwargs },
    chatBody('Hello'),
  );
  expect(at(sent, 'chat_template_kwargs')).toEqual({ enable_thinking: true, add_vision_id: true });
  expect(report).toBeNull();
});

test('reasoning settings pass in the protocol of the client, regardless of the model name', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const [chat] = await ask(
    '/chat/completions',
    { model: 'own/openai-chat', messages, reasoning_effort: 'low' },
    chatBody('Hello'),
  );
  expect(at(chat, 'reasoning_effort')).toBe('low');
  const [responses] = await ask(
    '/responses',
    { model: 'own/openai-responses', input: 'Hi', reasoning: { effort: 'xhigh' } },
    responsesBody([]),
  );
  expect(at(responses, 'reasoning', 'effort')).toBe('xhigh');
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  const [claude] = await ask(
    '/messages',
    { model: 'own/anthropic-messages', messages, max_tokens: 4000, thinking },
    messagesBody([{ type: 'text', text: 'Hello' }], 'end_turn'),
  );
  expect(at(claude, 'thinking')).toEqual(thinking);
});

test('it is not sent in another protocol, and that is reported', async () => {
  const body = { model: 'own/openai-chat', input: 'Hi', reasoning: { effort: 'high' } };
  const [sent, report] = await ask('/responses', body, chatBody('Hello'));
  expect(sent).not.toHaveProperty('reasoning_effort');
  expect(report).toContain('reasoning.effort:dropped');
});

test('an endpoint of the Interactions API needs no more than its address', async () => {
  upstream.script(whole(INTERACTION));
  const response = await fetch(`${gateway.origin}/v1beta/interactions`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'google2/gemini-tomorrow', input: 'Hi' }),
  });
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  expect(upstream.requests.at(-1)?.json).toEqual({ model: 'gemini-tomorrow', input: 'Hi' });
});

test('a server cannot be configured as unfaithful, because nothing would ever be sent', async () => {
  const entry = { base_url: 'http://127.0.0.1:1/v1beta', faithful: false };
  const config = {
    providers: { google2: { api_key: 'sk-test', protocols: { 'gemini-interactions': entry } } },
  };
  expect(String(await rejection(startGateway(config)))).toMatch(
    /gemini-interactions.*faithful.*must not be false/s,
  );
});
