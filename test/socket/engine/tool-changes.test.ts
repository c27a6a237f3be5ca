// Blocks that change the list of tools in the midst of a conversation (`tool_addition`, `tool_removal`), on every upstream: one
// that defines the protocol gets them as they are, all others the list of the next turn.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { geminiSays } from '../../support/upstreams/tool-scene.ts';

const scenes: Record<string, Scene> = {};
beforeAll(async () => {
  scenes['own'] = await startScene(['up'], { faithful: true });
  scenes['other'] = await startScene(['up']);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const HEADERS = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'inline-tools-2026-09-15' };
const tool = (name: string): object => ({ name, input_schema: { type: 'object', properties: {} } });
const reference = (type: string, name: string): object => ({ type, tool: { type: 'tool_reference', name } });
const defined = (name: string): object => ({
  type: 'tool_addition',
  tool: { type: 'tool_definition', definition: tool(name) },
});
const turn = (...blocks: object[]): object => ({
  role: 'user',
  content: [...blocks, { type: 'text', text: 'Go on.' }],
});
const FRAGMENT = { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] };

const ANSWERS = {
  chat: whole(chatBody('Hello')),
  responses: whole(
    responsesBody([
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      },
    ]),
  ),
  messages: whole(messagesBody([{ type: 'text', text: 'Hello' }], 'end_turn')),
  gemini: geminiSays([{ text: 'Hello' }]),
};
type Kind = keyof typeof ANSWERS;

async function ask(scene: Scene | undefined, kind: Kind, body: object): Promise<[Response, Json, unknown]> {
  if (!scene) throw new Error('no scene');
  const upstream = scene.upstream('up');
  upstream.always(ANSWERS[kind]);
  const request = { model: `one/${kind}`, max_tokens: 100, ...body };
  const response = await scene.gateway.post('/messages', request, HEADERS);
  const answer: unknown = await response.json();
  return [response, upstream.requests.at(-1)?.json as Json, answer];
}

function namesIn(kind: Kind, sent: Json): readonly unknown[] {
  switch (kind) {
    case 'chat':
      return list(sent, 'tools').map((each) => at(each, 'function', 'name'));
    case 'gemini':
      return list(sent, 'tools', 0, 'functionDeclarations').map((each) => at(each, 'name'));
    default:
      return list(sent, 'tools').map((each) => at(each, 'name'));
  }
}

describe.each(['chat', 'responses', 'messages', 'gemini'] as const)('%s', (kind) => {
  test.each([
    ['a removal', [turn(reference('tool_removal', 'a'))], ['b']],
    ['a definition', [turn(defined('c'))], ['a', 'b', 'c']],
    ['another definition of the same name', [turn(defined('a'))], ['b', 'a']],
    [
      'a removal, and back again',
      [turn(reference('tool_removal', 'a')), FRAGMENT, turn(reference('tool_addition', 'a'))],
      ['b', 'a'],
    ],
    [
      'a definition that is withdrawn',
      [turn(defined('c')), FRAGMENT, turn(reference('tool_removal', 'c'))],
      ['a', 'b'],
    ],
    ['a reference to an existing tool', [turn(reference('tool_addition', 'b'))], ['a', 'b']],
    ['the removal of all tools', [turn(reference('tool_removal', 'a'), reference('tool_removal', 'b'))], []],
  ])('%s', async (_, messages, expected) => {
    const [response, sent] = await ask(scenes['other'], kind, { messages, tools: [tool('a'), tool('b')] });
    expect(response.status).toBe(200);
    expect(namesIn(kind, sent)).toEqual(expected);
    const text = JSON.stringify(sent);
    expect(text).not.toContain('tool_addition');
    expect(text).not.toContain('tool_removal');
    expect(text).toMatch(/The tool [abc] is (?:available|no longer available)\./);
    expect(response.headers.get('x-dragoman-report')).toContain('messages[0].content[0]:approximated');
  });
});

test('the vendor of the protocol gets the blocks and the list unchanged', async () => {
  const messages = [turn(defined('c')), FRAGMENT, turn(reference('tool_removal', 'a'))];
  const tools = [tool('a'), tool('b')];
  const tool_choice = { type: 'tool', name: 'c' };
  const [response, sent] = await ask(scenes['own'], 'messages', { messages, tools, tool_choice });
  expect(response.status).toBe(200);
  expect(at(sent, 'messages')).toEqual(messages as Json);
  expect(at(sent, 'tools')).toEqual(tools as Json);
  expect(response.headers.get('x-dragoman-report')).toBeNull();
});

test('a tool that was defined in a block can be chosen', async () => {
  const body = {
    messages: [turn(defined('c'))],
    tools: [tool('a')],
    tool_choice: { type: 'tool', name: 'c' },
  };
  const [response, sent] = await ask(scenes['other'], 'chat', body);
  expect(response.status).toBe(200);
  expect(at(sent, 'tool_choice', 'function', 'name')).toBe('c');
});

test('a definition that is wrong is a 400 with its path', async () => {
  const broken = {
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition: { name: 'no good' } },
  };
  const [response, , answer] = await ask(scenes['other'], 'chat', {
    messages: [turn(broken)],
    tools: [tool('a')],
  });
  expect(response.status).toBe(400);
  expect(String(at(answer, 'error', 'message'))).toContain('messages[0].content[0].tool.definition.name');
});
