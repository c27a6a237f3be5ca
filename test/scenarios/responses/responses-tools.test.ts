// Tools that clients of the Responses API run, in front of models that know only functions: shells, patches, custom tools
// with grammars, groups. The model is offered functions; the client gets its own items; both turns of the loop.
import { afterAll, describe, expect, test } from 'bun:test';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { ask, says, startResponses, reported, type Way } from '../../support/responses-scene.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

interface Case {
  readonly tool: object;
  /** Name by which the model calls it. */
  readonly name: string;
  /** Arguments with which the model calls it. */
  readonly args: object;
  /** Item that the client gets, but for ids. */
  readonly item: Readonly<Record<string, unknown>>;
  /** Answer of the client. @param call the item as it came */
  readonly output: (call: Json) => object;
  /** Text that the model reads of that. */
  readonly read: string;
}

const answerTo = (call: Json, type: string, members: object): object => ({
  type,
  call_id: at(call, 'call_id'),
  ...members,
});
const GRAMMAR = 'start: "SELECT " ESCAPED_STRING "\\n"\n%import common.ESCAPED_STRING';

const CASES: Readonly<Record<string, Case>> = {
  shell: {
    tool: { type: 'shell' },
    name: 'shell',
    args: { commands: ['ls -a', 'pwd'], timeout_ms: 1000 },
    item: {
      type: 'shell_call',
      action: { commands: ['ls -a', 'pwd'], timeout_ms: 1000, max_output_length: null },
    },
    output: (call) =>
      answerTo(call, 'shell_call_output', {
        output: [{ stdout: 'notes.txt\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      }),
    read: 'notes.txt',
  },
  'local shell': {
    tool: { type: 'local_shell' },
    name: 'local_shell',
    args: { command: ['cat', 'notes.txt'], env: { A: 'b' } },
    item: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['cat', 'notes.txt'], env: { A: 'b' } },
    },
    // The one output that has no `call_id`: its own id is that of the call.
    output: (call) => ({
      type: 'local_shell_call_output',
      id: at(call, 'call_id'),
      output: '{"output":"buy tea"}',
    }),
    read: 'buy tea',
  },
  apply_patch: {
    tool: { type: 'apply_patch' },
    name: 'apply_patch',
    args: { type: 'create_file', path: 'a.txt', diff: '+tea' },
    item: { type: 'apply_patch_call', operation: { type: 'create_file', path: 'a.txt', diff: '+tea' } },
    output: (call) =>
      answerTo(call, 'apply_patch_call_output', { status: 'completed', output: 'Created a.txt' }),
    read: 'Created a.txt',
  },
  'custom with a grammar': {
    tool: {
      type: 'custom',
      name: 'run_sql',
      description: 'Runs a query',
      format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
    },
    name: 'run_sql',
    args: { input: 'SELECT "tea"\n' },
    item: { type: 'custom_tool_call', name: 'run_sql', input: 'SELECT "tea"\n' },
    output: (call) => answerTo(call, 'custom_tool_call_output', { output: 'two rows' }),
    read: 'two rows',
  },
  'a group': {
    tool: {
      type: 'namespace',
      name: 'mcp__docs',
      description: 'Documents',
      tools: [
        {
          type: 'function',
          name: 'search',
          description: 'Searches',
          parameters: {
            type: 'object',
            properties: { q: { type: 'string' } },
            required: ['q'],
            additionalProperties: false,
          },
        },
      ],
    },
    name: 'mcp__docs__search',
    args: { q: 'tea' },
    item: { type: 'function_call', name: 'search', namespace: 'mcp__docs', arguments: '{"q":"tea"}' },
    output: (call) => answerTo(call, 'function_call_output', { output: 'green, black' }),
    read: 'green, black',
  },
};

/** Compatible servers of the same protocol know custom tools, but none that OpenAI adds. */
const WAYS: readonly Way[] = ['chat', 'messages', 'responses'];
let made = 0;

describe.each(WAYS.flatMap((way) => [false, true].map((stream) => [way, stream] as const)))(
  'over %s, streamed: %p',
  (way, stream) => {
    test.each(Object.keys(CASES).filter((name) => way !== 'responses' || !name.startsWith('custom')))(
      '%s: the model calls it, the client runs it, and the model gets the result',
      async (name) => {
        const { tool, name: called, args, item, output, read } = CASES[name] as Case;
        const callId = `call_tool${++made}`;
        for (const how of ['resent', 'continued'] as const) {
          scene.upstream.script(
            says(way, [{ text: 'Doing it.' }, { call: called, id: callId, args }]),
            says(way, [{ text: 'Done.' }]),
          );
          const first = await ask(scene, way, { input: 'Do it.', tools: [tool] }, stream);
          expect(scene.upstream.requests[0]?.text).toContain(`"name":"${called}"`);
          const [message, call = null, ...others] = list(first.body, 'output');
          expect(at(message, 'type')).toBe('message');
          expect(others).toEqual([]);
          expect(call).toMatchObject({ ...item, call_id: callId, status: 'completed' } as object);
          expect(at(first.body, 'tools', 0, 'type')).toBe(at(tool, 'type') ?? '');
          const next =
            how === 'resent'
              ? { input: [{ role: 'user', content: 'Do it.' }, message, call, output(call)] }
              : { input: [output(call)], previous_response_id: first.id };
          const second = await ask(scene, way, { ...next, tools: [tool] }, stream);
          expect(second.status).toBe(200);
          const sent = reported(scene.upstream.requests[1]);
          expect(sent.slice(0, 2)).toEqual(['user: Do it.', 'assistant: Doing it.']);
          expect(sent[2]).toStartWith(`call ${called} {`);
          expect(sent[2]).toEndWith(`} ${callId}`);
          expect(JSON.parse(sent[2]?.slice(`call ${called} `.length, -callId.length - 1) ?? '')).toEqual(
            args,
          );
          expect(sent[3]).toStartWith(`result ${callId}: `);
          expect(sent[3]).toContain(read);
          expect(sent).toHaveLength(4);
        }
      },
    );

    test('two of them at once keep their order and their ids', async () => {
      const { shell, apply_patch: patch } = CASES as Record<'shell' | 'apply_patch', Case>;
      scene.upstream.script(
        says(way, [
          { call: 'shell', id: `call_a${made}`, args: shell.args },
          { call: 'apply_patch', id: `call_b${made}`, args: patch.args },
        ]),
      );
      const tools = [shell.tool, patch.tool];
      const answer = await ask(scene, way, { input: 'Both.', tools }, stream);
      const output = list(answer.body, 'output');
      expect(output.map((item) => [at(item, 'type'), at(item, 'call_id')])).toEqual([
        ['shell_call', `call_a${made}`],
        ['apply_patch_call', `call_b${made}`],
      ]);
      expect(new Set(output.map((item) => at(item, 'id'))).size).toBe(2);
    });
  },
);

test('a conversation with native calls moves to another provider between turns', async () => {
  const { shell } = CASES as Record<'shell', Case>;
  scene.upstream.script(
    says('chat', [{ call: 'shell', id: 'call_moved', args: shell.args }]),
    says('messages', [{ text: 'Done.' }]),
  );
  const first = await ask(scene, 'chat', { input: 'Do it.', tools: [shell.tool] }, true);
  const input = [shell.output(at(first.body, 'output', 0) ?? null)];
  await ask(scene, 'messages', { input, previous_response_id: first.id, tools: [shell.tool] }, true);
  expect(reported(scene.upstream.requests[1])[1]).toStartWith('call shell {"commands":["ls -a","pwd"]');
});

test('an item that no other protocol has is rendered as text', async () => {
  scene.upstream.script(says('chat', [{ text: 'I see.' }]));
  const input = [
    { role: 'user', content: 'Hi' },
    { type: 'brand_new_item', id: 'new_1', data: 1 },
  ];
  expect((await ask(scene, 'chat', { input }, false)).status).toBe(200);
  expect(JSON.stringify(scene.upstream.requests[0]?.json)).toContain('[brand_new_item]');
  scene.upstream.script(says('relay', [{ text: 'I know it.' }]));
  expect((await ask(scene, 'relay', { input }, false)).status).toBe(200);
  expect(at(scene.upstream.requests[0]?.json, 'input', 1)).toEqual(input[1] as Json);
});
