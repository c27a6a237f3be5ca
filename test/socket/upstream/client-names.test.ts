// Losses are named as the client wrote the member, in whichever protocol it spoke: in the report, in strict mode, and in
// errors about a schema.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const scene = await startScene(['up'], {
  config: {
    models: [
      {
        id: 'plain/chat',
        max_output_tokens: 4000,
        endpoints: [
          {
            provider: 'up',
            model: 'm',
            protocol: 'openai-chat',
            quirks: { structured_output: 'none', strict_tools: false },
          },
        ],
      },
      {
        id: 'plain/messages',
        max_output_tokens: 4000,
        endpoints: [{ provider: 'up', model: 'm', protocol: 'anthropic-messages', reasoning: 'budget' }],
      },
      {
        id: 'plain/responses',
        endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses', reasoning: 'effort' }],
      },
    ],
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } };
const TEXT = [{ type: 'text', text: '{"a":"b"}' }];
const ANSWERS: Readonly<Record<string, Answer>> = {
  'plain/chat': whole(chatBody('{"a":"b"}')),
  'plain/messages': whole(messagesBody(TEXT, 'end_turn')),
  'plain/responses': whole(
    responsesBody([
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: '{"a":"b"}', annotations: [] }],
      },
    ]),
  ),
};

const USER = { role: 'user', content: 'Hi' };
const CHAT = { path: '/v1/chat/completions', body: { messages: [USER] } };
const RESPONSES = { path: '/v1/responses', body: { input: 'Hi', store: false } };
const MESSAGES = { path: '/v1/messages', body: { max_tokens: 2000, messages: [USER] } };
const GEMINI = {
  path: '/v1beta/models/MODEL:generateContent',
  body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};

async function send(
  { path, body }: { readonly path: string; readonly body: object },
  model: string,
  more: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  scene.upstream('up').script(ANSWERS[model] ?? whole({}));
  const inPath = path.includes('MODEL');
  return fetch(scene.gateway.origin + path.replace('MODEL', model), {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...(inPath ? {} : { model }), ...body, ...more }),
  });
}

const THINKING = { type: 'enabled', budget_tokens: 1500 };
const FORMAT = { type: 'json_schema', schema: SCHEMA };
const config = (members: object): object => ({ generationConfig: members });

const CLIENTS = { chat: CHAT, responses: RESPONSES, messages: MESSAGES, gemini: GEMINI };

/** Client, model, how the loss is named, what is asked beyond a question. */
const LOSSES = [
  ['chat', 'plain/messages', 'seed:dropped', { seed: 1 }],
  [
    'chat',
    'plain/chat',
    'tools[0].function.strict:dropped',
    { tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, strict: true } }] },
  ],
  [
    'chat',
    'plain/chat',
    'response_format:approximated',
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } } },
  ],
  ['responses', 'plain/messages', 'text.verbosity:dropped', { text: { verbosity: 'low' } }],
  ['responses', 'plain/chat', 'text.format:approximated', { text: { format: { ...FORMAT, name: 'n' } } }],
  [
    'responses',
    'plain/chat',
    'tools[0].strict:dropped',
    { tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: true }] },
  ],
  ['responses', 'plain/chat', 'reasoning.effort:dropped', { reasoning: { effort: 'low' } }],
  ['messages', 'plain/chat', 'thinking:dropped', { thinking: THINKING }],
  ['messages', 'plain/chat', 'output_config.effort:dropped', { output_config: { effort: 'low' } }],
  ['messages', 'plain/chat', 'output_config.format:approximated', { output_config: { format: FORMAT } }],
  ['messages', 'plain/responses', 'thinking.budget_tokens:approximated', { thinking: THINKING }],
  ['gemini', 'plain/messages', 'generationConfig.frequencyPenalty:dropped', config({ frequencyPenalty: 1 })],
  [
    'gemini',
    'plain/chat',
    'generationConfig.responseSchema:approximated',
    config({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } }),
  ],
  [
    'gemini',
    'plain/chat',
    'generationConfig.responseMimeType:approximated',
    config({ responseMimeType: 'application/json' }),
  ],
  [
    'gemini',
    'plain/chat',
    'generationConfig.thinkingConfig:dropped',
    config({ thinkingConfig: { thinkingBudget: 512 } }),
  ],
] as const;

describe('a loss is reported with the member names of the client', () => {
  test.each(LOSSES)('%s, %s: %s', async (client, model, entry, more) => {
    const response = await send(CLIENTS[client], model, more);
    expect(response.status).toBe(200);
    expect((response.headers.get('x-dragoman-report') ?? '').split(', ')).toContain(entry);
    const paths = list(await recordOf(scene.gateway, response), 'report').map((each) => at(each, 'path'));
    expect(paths).toContain(entry.split(':')[0]);
  });

  test.each(LOSSES)('%s, %s, strictly: %s', async (client, model, entry, more) => {
    const response = await send(CLIENTS[client], model, more, { 'x-dragoman-strict': 'true' });
    const error = at(await response.json(), 'error');
    expect(response.status).toBe(400);
    expect(String(at(error, 'message'))).toContain(`${entry.split(':')[0]} would be `);
    if (client === 'chat' || client === 'responses')
      expect(at(error, 'param')).toBe(entry.split(':')[0] ?? '');
  });
});

test('a plan lists with the member names of the client what an endpoint does not support', async () => {
  const { origin } = scene.gateway;
  const ask = { ...MESSAGES.body, model: 'plain/responses', stop_sequences: ['x'] };
  const response = await fetch(`${origin}/v1/route/explain?protocol=anthropic-messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...ask, provider: { require_parameters: true } }),
  });
  expect(await response.text()).toContain('does not support stop_sequences');
});

test('a body in the form of another protocol gets reports with its own member names', async () => {
  const client = { path: '/v1/chat/completions', body: { messages: [USER], system: 'Be kind.' } };
  const response = await send(client, 'plain/chat', { thinking: THINKING });
  expect((response.headers.get('x-dragoman-report') ?? '').split(', ')).toContain('thinking:dropped');
});
test('an unusable schema is named with its path', async () => {
  const broken = { type: 'object', properties: { a: { $ref: '#/nowhere' } } };
  const inText = await send(RESPONSES, 'plain/chat', {
    text: { format: { type: 'json_schema', name: 'n', schema: broken } },
  });
  expect(at(await inText.json(), 'error', 'param')).toBe('text.format.schema');
  const inConfig = await send(MESSAGES, 'plain/chat', {
    output_config: { format: { type: 'json_schema', schema: broken } },
  });
  expect(String(at(await inConfig.json(), 'error', 'message'))).toStartWith('output_config.format.schema: ');
});
