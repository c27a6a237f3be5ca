// Facts of model families that decide what is sent: what one generation takes and the next refuses.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const upstream = await startUpstream();
const gateway = await startGateway({
  providers: {
    anthropic: { api_key: 'sk-test', base_url: upstream.origin },
    openai: { api_key: 'sk-test', base_url: `${upstream.origin}/v1` },
    bedrock: {
      api_key: 'sk-test',
      region: 'eu-west-1',
      base_url: upstream.origin,
    },
  },
  models: [
    { id: 'old/claude', endpoints: [converse('anthropic.claude-3-sonnet-20240229-v1:0')] },
    { id: 'new/claude', endpoints: [converse('us.anthropic.claude-sonnet-4-5-20250929-v1:0')] },
    { id: 'small/o3', endpoints: [{ provider: 'openai', model: 'o3-mini', protocol: 'openai-chat' }] },
    { id: 'some/nova', endpoints: [converse('us.amazon.nova-lite-v1:0')] },
  ],
  routing: { retries: 0, breaker: { failures: 1000 } },
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

function converse(model: string): object {
  return { provider: 'bedrock', model, protocol: 'bedrock-converse' };
}

const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
};

/** Body that arrives for a request, and what its report says was lost. */
async function sent(path: string, body: object): Promise<{ body: Json; report: string }> {
  const model = String((body as { model: unknown }).model);
  const answer = /^(old|new|some)\//.test(model)
    ? CONVERSED
    : model.startsWith('anthropic/')
      ? messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn')
      : model === 'small/o3'
        ? chatBody('Hi')
        : responsesBody([]);
  upstream.script(whole(answer));
  const response = await gateway.post(path, body);
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  return {
    body: upstream.requests.at(-1)?.json as Json,
    report: response.headers.get('x-dragoman-report') ?? '',
  };
}

const chat = (model: string, more: object): Promise<{ body: Json; report: string }> =>
  sent('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 100,
    reasoning_effort: 'none',
    ...more,
  });

describe('Claude', () => {
  test('before Opus 4.1 and Sonnet 4.5 accepts `top_p` with `temperature`, later ones do not', async () => {
    const both = { temperature: 0.5, top_p: 0.9 };
    for (const model of ['claude-3-5-sonnet-20241022', 'claude-opus-4-0', 'claude-sonnet-4-20250514']) {
      const { body } = await chat(`anthropic/${model}`, both);
      expect([model, at(body, 'temperature'), at(body, 'top_p')]).toEqual([model, 0.5, 0.9]);
    }
    for (const model of ['claude-opus-4-1', 'claude-sonnet-4-5', 'claude-haiku-4-5']) {
      const { body, report } = await chat(`anthropic/${model}`, both);
      expect([model, at(body, 'temperature'), at(body, 'top_p')]).toEqual([model, 0.5, undefined]);
      expect(report).toContain('top_p:dropped');
    }
    const old = await chat('old/claude', both);
    expect(at(old.body, 'inferenceConfig')).toMatchObject({ temperature: 0.5, topP: 0.9 });
    const later = await chat('new/claude', both);
    expect(at(later.body, 'inferenceConfig')).toMatchObject({ temperature: 0.5 });
    expect(at(later.body, 'inferenceConfig', 'topP')).toBeUndefined();
  });

  test('4.6 thinks with a forced tool, earlier ones do not', async () => {
    const forced = {
      reasoning_effort: 'high',
      max_tokens: 4000,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'required',
    };
    const { body, report } = await chat('anthropic/claude-opus-4-6', forced);
    expect(at(body, 'thinking', 'type')).toBe('adaptive');
    expect(at(body, 'tool_choice', 'type')).toBe('any');
    expect(report).not.toContain('dropped');
    const earlier = await chat('anthropic/claude-sonnet-4-5', forced);
    expect(at(earlier.body, 'thinking', 'type')).toBe('disabled');
    expect(earlier.report).toContain(':dropped');
  });

  test('takes a conversation that the assistant begins; other models of Bedrock get an opening', async () => {
    const messages = [
      { role: 'assistant', content: 'Hello there!' },
      { role: 'user', content: 'Now say goodbye.' },
    ];
    for (const model of ['anthropic/claude-sonnet-4-5', 'new/claude']) {
      const { body, report } = await chat(model, { messages });
      expect(list(body, 'messages').map((each) => at(each, 'role'))).toEqual(['assistant', 'user']);
      expect(report).not.toContain('messages:approximated');
    }
    const { body, report } = await chat('some/nova', { messages });
    expect(list(body, 'messages').map((each) => at(each, 'role'))).toEqual(['user', 'assistant', 'user']);
    expect(report).toContain('messages:approximated');
  });
});

describe("OpenAI's models", () => {
  test('since GPT-5.2 accept a temperature if reasoning is off', async () => {
    const { body, report } = await chat('openai/gpt-5.6', { temperature: 0.3 });
    expect([at(body, 'temperature'), at(body, 'reasoning', 'effort')]).toEqual([0.3, 'none']);
    expect(report).not.toContain('temperature');
    const reasoning = await chat('openai/gpt-5.6', { temperature: 0.3, reasoning_effort: 'low' });
    expect(at(reasoning.body, 'temperature')).toBeUndefined();
    expect(reasoning.report).toContain('temperature:dropped');
    const always = await chat('openai/gpt-5', { temperature: 0.3 });
    expect(at(always.body, 'temperature')).toBeUndefined();
  });
});

describe('o3-mini', () => {
  test('takes stop sequences in Chat Completions', async () => {
    const { body, report } = await chat('small/o3', { stop: ['X'], reasoning_effort: 'low' });
    expect(at(body, 'stop')).toEqual(['X']);
    expect(report).not.toContain('stop');
  });
});

describe('a document of text', () => {
  test('reaches Converse as a document with its title, context and request for citations', async () => {
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'The sky is green.' },
      title: 'Sky',
      context: 'a report',
      citations: { enabled: true },
    };
    const blocks = {
      type: 'document',
      source: {
        type: 'content',
        content: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
        ],
      },
    };
    const { body, report } = await sent('/messages', {
      model: 'new/claude',
      max_tokens: 100,
      messages: [{ role: 'user', content: [document, blocks, { type: 'text', text: 'What colour?' }] }],
    });
    expect(report).not.toContain('approximated');
    expect(at(list(body, 'messages')[0], 'content')).toEqual([
      {
        document: {
          format: 'txt',
          name: 'Sky',
          source: { text: 'The sky is green.' },
          context: 'a report',
          citations: { enabled: true },
        },
      },
      {
        document: {
          format: 'txt',
          name: 'document',
          source: { content: [{ text: 'One.' }, { text: 'Two.' }] },
        },
      },
      { text: 'What colour?' },
    ]);
  });
});

describe('a refusal', () => {
  test('reaches clients of Gemini as a blocked response', async () => {
    const ask = async (answer: object, model: string): Promise<Json> => {
      upstream.script(whole(answer));
      const response = await gateway.post(`/models/${model}:generateContent`, {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      });
      const [candidate] = list(await response.json(), 'candidates');
      return candidate ?? null;
    };
    const claude = await ask(
      messagesBody([{ type: 'text', text: 'No.' }], 'refusal'),
      'anthropic/claude-sonnet-4-5',
    );
    expect([at(claude, 'finishReason'), at(list(claude, 'content', 'parts')[0], 'text')]).toEqual([
      'SAFETY',
      'No.',
    ]);
    const content = [{ type: 'refusal', refusal: 'I cannot.' }];
    const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content };
    const openai = await ask(responsesBody([message]), 'openai/gpt-5.6');
    expect([at(openai, 'finishReason'), at(list(openai, 'content', 'parts')[0], 'text')]).toEqual([
      'SAFETY',
      'I cannot.',
    ]);
  });
});
