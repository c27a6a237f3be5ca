// Anthropic's tools that the client runs (shell, editor, memory, screen), on models of other protocols: what the model is
// offered, how one of them is chosen, what it reads of earlier calls, and the `tool_use` blocks that the client gets.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import type { Answer } from '../../../support/upstreams/scripted-upstream.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const TOOLS = [
  { type: 'bash_20250124', name: 'bash', cache_control: { type: 'ephemeral' } },
  { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 10_000 },
  { type: 'memory_20250818', name: 'memory' },
  {
    type: 'computer_20251124',
    name: 'computer',
    display_width_px: 1024,
    display_height_px: 768,
    enable_zoom: true,
  },
];
const NAMES = ['bash', 'str_replace_based_edit_tool', 'memory', 'computer'];
const ARGUMENTS = '{"command":"ls"}';

interface Upstream {
  readonly model: string;
  readonly answer: Answer;
  /** The functions of a request, with their schemas. */
  readonly functions: (body: unknown) => readonly [name: Json | undefined, schema: Json | undefined][];
  readonly choice: Json;
}

const functionCall = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'bash',
  status: 'completed',
};
const UPSTREAMS: readonly Upstream[] = [
  {
    model: 'one/chat',
    answer: whole(
      chatBody(
        {
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'bash', arguments: ARGUMENTS } }],
        },
        'tool_calls',
      ),
    ),
    functions: (body) =>
      list(body, 'tools').map((tool) => [at(tool, 'function', 'name'), at(tool, 'function', 'parameters')]),
    choice: { type: 'function', function: { name: 'bash' } },
  },
  {
    model: 'one/responses',
    answer: whole(responsesBody([{ ...functionCall, arguments: ARGUMENTS }])),
    functions: (body) => list(body, 'tools').map((tool) => [at(tool, 'name'), at(tool, 'parameters')]),
    choice: { type: 'function', name: 'bash' },
  },
  {
    model: 'one/gemini',
    answer: whole({
      candidates: [
        {
          content: { role: 'model', parts: [{ functionCall: { name: 'bash', args: { command: 'ls' } } }] },
          finishReason: 'STOP',
        },
      ],
    }),
    functions: (body) =>
      list(body, 'tools', 0, 'functionDeclarations').map((tool) => [
        at(tool, 'name'),
        at(tool, 'parametersJsonSchema') ?? at(tool, 'parameters'),
      ]),
    choice: { mode: 'ANY', allowedFunctionNames: ['bash'] },
  },
];

const question = { role: 'user', content: 'List the files.' };

test.each(UPSTREAMS)('reach $model as functions, and are called as they are', async (upstream) => {
  const { model, answer, functions, choice } = upstream;
  scene.upstream('up').script(answer, answer);
  const body = { model, max_tokens: 1000, tools: TOOLS, messages: [question] };
  const response = await scene.gateway.post('/messages', {
    ...body,
    tool_choice: { type: 'tool', name: 'bash' },
  });
  const report = response.headers.get('x-dragoman-report') ?? '';
  const message = (await response.json()) as Json;
  expect([response.status, message]).toMatchObject([200, { stop_reason: 'tool_use' }]);
  expect(at(message, 'content', 0)).toMatchObject({
    type: 'tool_use',
    name: 'bash',
    input: { command: 'ls' },
  });
  for (const index of TOOLS.keys()) expect(report).toContain(`tools[${index}]:approximated`);
  expect(report).not.toContain('tool_choice');

  const sent = scene.upstream('up').requests.at(-1)?.json;
  const offered = functions(sent);
  expect(offered.map(([name]) => name)).toEqual(NAMES);
  expect(at(offered[0]?.[1], 'properties', 'command', 'type')).toBe('string');
  expect(list(offered[1]?.[1], 'properties', 'command', 'enum')).toEqual([
    'view',
    'create',
    'str_replace',
    'insert',
  ]);
  expect(list(offered[2]?.[1], 'properties', 'command', 'enum')).toContain('rename');
  expect(list(offered[3]?.[1], 'properties', 'action', 'enum')).toContain('zoom');
  expect(JSON.stringify(sent)).toContain('1024 pixels wide');
  expect(at(sent, 'tool_choice') ?? at(sent, 'toolConfig', 'functionCallingConfig')).toEqual(choice);

  // The second turn holds the call and what the shell printed.
  const use = at(message, 'content', 0);
  const printed = { type: 'tool_result', tool_use_id: at(use, 'id'), content: 'README.md' };
  const turns = [question, { role: 'assistant', content: [use] }, { role: 'user', content: [printed] }];
  const next = await scene.gateway.post('/messages', { ...body, messages: turns });
  expect(next.status).toBe(200);
  const again = JSON.stringify(scene.upstream('up').requests.at(-1)?.json);
  expect(again).toContain('README.md');
  expect(again).toMatch(/"name":"bash","arg/);
});

test('reach Anthropic as they are', async () => {
  scene.upstream('up').script(whole(messagesBody([{ type: 'text', text: 'Hi.' }], 'end_turn')));
  const response = await scene.gateway.post('/messages', {
    model: 'one/messages',
    max_tokens: 1000,
    tools: TOOLS,
    tool_choice: { type: 'tool', name: 'memory' },
    messages: [question],
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-dragoman-report') ?? '').not.toContain('tools');
  const sent = scene.upstream('up').requests.at(-1)?.json;
  expect(at(sent, 'tools')).toEqual(TOOLS as unknown as Json);
  expect(at(sent, 'tool_choice')).toEqual({ type: 'tool', name: 'memory' });
});

test('the first editor has its own name, undoes, and inserts with the same member', async () => {
  scene.upstream('up').script(whole(chatBody('Hi.')));
  await scene.gateway.post('/messages', {
    model: 'one/chat',
    max_tokens: 1000,
    tools: [{ type: 'text_editor_20250124', name: 'str_replace_editor' }],
    messages: [question],
  });
  const tool = at(scene.upstream('up').requests.at(-1)?.json, 'tools', 0, 'function');
  expect(at(tool, 'name')).toBe('str_replace_editor');
  expect(list(tool, 'parameters', 'properties', 'command', 'enum')).toContain('undo_edit');
  expect(at(tool, 'parameters', 'properties', 'insert_text')).toBeUndefined();
});
