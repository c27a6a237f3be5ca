// Custom tools at models that came before them: they travel as functions, although the server follows OpenAI's own
// definition and takes custom tools for its later models.
import { afterAll, expect, test } from 'bun:test';
import { receives, says } from './custom-tools-scene.ts';
import { chatBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const MODELS = [
  ['gpt-4o', 'function'],
  ['gpt-4.1-mini', 'function'],
  ['o1', 'function'],
  ['o4-mini', 'function'],
  ['gpt-5-mini', 'custom'],
  ['gpt-5.2', 'custom'],
] as const;
const PROTOCOLS = ['openai-chat', 'openai-responses'] as const;
/** The same tool in the words of each. */
const ASKS = {
  'openai-chat': {
    path: '/chat/completions',
    body: {
      messages: [{ role: 'user', content: 'Run.' }],
      tools: [{ type: 'custom', custom: { name: 'run' } }],
    },
  },
  'openai-responses': {
    path: '/responses',
    body: { store: false, input: 'Run.', tools: [{ type: 'custom', name: 'run' }] },
  },
};

const scene = await startScene(['up'], {
  faithful: true,
  config: {
    models: PROTOCOLS.flatMap((protocol) =>
      MODELS.map(([model]) => ({
        id: `${protocol}/${model}`,
        endpoints: [{ provider: 'up', model, protocol, reasoning: 'none' }],
      })),
    ),
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const INPUT = { input: 'ls' };
/** A call as a model writes it that knows custom tools. */
const CUSTOM_CALLS = {
  'openai-chat': whole(
    chatBody(
      {
        content: null,
        tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'run', ...INPUT } }],
      },
      'tool_calls',
    ),
  ),
  'openai-responses': whole(
    responsesBody([
      {
        id: 'ctc_1',
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'run',
        ...INPUT,
      },
    ]),
  ),
};

test.each(MODELS.flatMap(([model, kind]) => PROTOCOLS.map((protocol) => [model, kind, protocol] as const)))(
  '%s gets a %s over %s',
  async (model, kind, protocol) => {
    const up = scene.upstream('up');
    const client = protocol === 'openai-chat' ? 'chat' : 'responses';
    const knows = kind === 'custom';
    up.script(knows ? CUSTOM_CALLS[protocol] : says(protocol, false, { calls: [['run', 'call_1', INPUT]] }));
    const { path, body } = ASKS[protocol];
    const response = await scene.gateway.post(path, { model: `${protocol}/${model}`, ...body });
    const text = await response.text();
    expect(receives(client, false, text)).toEqual(['run call_1 ls']);
    expect(at(up.requests[0]?.json, 'tools', 0, 'type')).toBe(kind);
    expect(response.headers.get('x-dragoman-lane')).toBe(knows ? 'relay' : 'translate');
  },
);

test('an earlier call of a custom tool is sent as a function call', async () => {
  const up = scene.upstream('up');
  up.script(whole(chatBody('Done.')));
  const call = { id: 'call_1', type: 'custom', custom: { name: 'run', ...INPUT } };
  const response = await scene.gateway.post('/chat/completions', {
    model: 'openai-chat/gpt-4o',
    messages: [
      { role: 'user', content: 'Run.' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
    ],
  });
  expect(response.status).toBe(200);
  expect(at(up.requests[0]?.json, 'messages', 1, 'tool_calls', 0)).toEqual({
    id: 'call_1',
    type: 'function',
    function: { name: 'run', arguments: JSON.stringify(INPUT) },
  });
});
