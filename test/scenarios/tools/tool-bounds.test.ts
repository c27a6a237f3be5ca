// Bounds of the gateway's tools for one request: calls, names, answers of persons, turns at endpoints
// that could take the client's own words.
import { afterAll, describe, expect, test } from 'bun:test';
import { at, list } from '../../support/upstreams/json-path.ts';
import { MCP_TOOLS, serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import { ask, says, reported, wordsOf } from '../../support/responses-scene.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

let paid = 0;
/** Much that holds nothing, and little that is described at length. */
const flood = (): object => ({
  content: [
    { type: 'text', text: 'the beginning' },
    { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'x'.repeat(4_000_000) },
    ...Array.from({ length: 200_000 }, () => ({ type: 'text', text: '' })),
  ],
});
const photo = (): object => ({
  content: [{ type: 'image', data: 'A'.repeat(3.5 * 1_048_576), mimeType: 'image/png' }],
});
const scene = await startToolScene({
  tools: {
    ...MCP_TOOLS,
    pay: { run: () => `paid ${++paid}` },
    photo: { run: photo },
    flood: { run: flood },
  },
  models: [
    {
      id: 'mixed/responses',
      endpoints: [
        { provider: 'up', model: 'first', protocol: 'openai-responses' },
        { provider: 'own', model: 'second', protocol: 'openai-responses', quirks: { searches_web: true } },
      ],
    },
  ],
});
afterAll(() => scene[Symbol.asyncDispose]());

const SEARCH = { type: 'web_search' };
const search = (id: string): { call: string; id: string; args: object } => ({
  call: 'web_search',
  id,
  args: { query: 'rivers' },
});

describe.each([false, true])('a later turn (streamed: %p)', (stream) => {
  test('is never sent with the body of the first, even if that could be relayed', async () => {
    scene.upstream.script(
      says('responses', [search('call_a')]),
      wordsOf('responses').error(500),
      says('relay', [{ text: 'Found.' }]),
    );
    const body = { model: 'mixed/responses', input: 'Which rivers?', tools: [SEARCH] };
    const answer = await ask(scene, 'relay', body, stream);
    const types = list(answer.body, 'output').map((item) => at(item, 'type'));
    expect(types).toEqual(['web_search_call', 'message']);
    expect(reported(scene.upstream.requests.at(-1)).join('\n')).toContain('The Ounas is 299 km long.');
  });
});

describe('an approval', () => {
  const asked = async (): Promise<{ id: unknown; question: unknown }> => {
    scene.upstream.script(says('chat', [{ call: 'sums__pay', id: 'call_p', args: {} }]));
    const body = { input: 'Pay.', tools: [serverAt(scene.mcp.url, { require_approval: 'always' })] };
    const { body: response } = await ask(scene, 'chat', body, false);
    const question = list(response, 'output').find((item) => at(item, 'type') === 'mcp_approval_request');
    return { id: at(response, 'id'), question: at(question, 'id') };
  };
  const allowing = (id: unknown, question: unknown, times = 1): object => ({
    previous_response_id: id,
    tools: [serverAt(scene.mcp.url, { require_approval: 'always' })],
    input: Array.from({ length: times }, () => ({
      type: 'mcp_approval_response',
      approval_request_id: question,
      approve: true,
    })),
  });

  test('that is sent twice causes one call', async () => {
    const { id, question } = await asked();
    const before = paid;
    scene.upstream.script(says('chat', [{ text: 'Thanks.' }]));
    await ask(scene, 'chat', allowing(id, question, 2), false);
    expect(paid - before).toBe(1);
  });

  test.each([false, true])(
    'allows one call, also if no model could continue and it is sent again (streamed: %p)',
    async (stream) => {
      const { id, question } = await asked();
      const before = paid;
      scene.upstream.script(wordsOf('chat').error(500));
      const failed = await ask(scene, 'chat', allowing(id, question), stream);
      expect(at(failed.body, 'status')).toBe('failed');
      expect(list(failed.body, 'output').map((item) => [at(item, 'type'), at(item, 'output')])).toEqual([
        ['mcp_call', `paid ${before + 1}`],
      ]);
      scene.upstream.script(says('chat', [{ text: 'Thanks.' }]));
      const again = await ask(scene, 'chat', allowing(id, question), stream);
      expect(at(again.body, 'status')).toBe('completed');
      expect(paid - before).toBe(1);
      expect(reported(scene.upstream.requests.at(-1)).join('\n')).toContain(`paid ${before + 1}`);
    },
  );
});

describe('allowed calls', () => {
  const tools = (): object[] => [serverAt(scene.mcp.url, { require_approval: 'always' })];
  const questions = (count: number, name = 'echo'): object[] =>
    Array.from({ length: count }, (_, n) => ({
      type: 'mcp_approval_request',
      id: `mcpr_${name}${n}`,
      server_label: 'sums',
      name,
      arguments: JSON.stringify({ text: `said ${name} ${n}` }),
    }));
  const allowed = (count: number, name?: string): object[] => [
    { role: 'user', content: 'Go on.' },
    ...questions(count, name),
    ...questions(count, name).map((question) => ({
      type: 'mcp_approval_response',
      approval_request_id: at(question, 'id'),
      approve: true,
    })),
  ];

  test('count toward the calls of one response; those that were not made stay approved', async () => {
    const before = scene.mcp.calls.length;
    scene.upstream.script(says('chat', [{ text: 'Done.' }]), says('chat', [{ text: 'Done.' }]));
    const { id, body } = await ask(scene, 'chat', { input: allowed(130), tools: tools() }, false);
    expect(at(body, 'status')).toBe('completed');
    expect(scene.mcp.calls.length - before).toBe(128);
    const lines = reported(scene.upstream.requests.at(-1)).join('\n');
    expect(lines.match(/At most 128 tool calls/g)).toHaveLength(2);
    const next = { input: 'And the others?', tools: tools(), previous_response_id: id };
    await ask(scene, 'chat', next, false);
    expect(scene.mcp.calls.length - before).toBe(130);
  });

  test('obey the limit of the request', async () => {
    const before = scene.mcp.calls.length;
    scene.upstream.script(says('chat', [{ text: 'Done.' }]));
    const body = { input: allowed(3, 'add'), tools: tools(), max_tool_calls: 2 };
    await ask(scene, 'chat', body, false);
    expect(scene.mcp.calls.length - before).toBe(2);
  });

  test('give the model no more than other calls do', async () => {
    scene.upstream.script(says('chat', [{ text: 'Done.' }]));
    await ask(scene, 'chat', { input: allowed(3, 'photo'), tools: tools() }, false);
    const sent = scene.upstream.requests.at(-1)?.text ?? '';
    expect(sent.match(/The result was omitted/g)).toHaveLength(1);
    expect(sent.length).toBeLessThan(9 * 1_048_576);
  });
});

test('a result of countless blocks, or of endless descriptions, is cut as a long text is', async () => {
  const call = { call: 'sums__flood', id: 'call_f', args: {} };
  scene.upstream.script(says('chat', [call]), says('chat', [{ text: 'Seen.' }]));
  await ask(scene, 'chat', { input: 'Go.', tools: [serverAt(scene.mcp.url)] }, false);
  const sent = scene.upstream.requests.at(-1)?.text ?? '';
  expect(sent).toContain('the beginning');
  expect(sent).toContain('[The result was truncated: it is too long.]');
  expect(sent.length).toBeLessThan(200_000);
});

test('a stream that breaks after an allowed call has shown that call once', async () => {
  scene.upstream.script(says('chat', [{ call: 'sums__pay', id: 'call_p', args: {} }]));
  const tools = [serverAt(scene.mcp.url, { require_approval: 'always' })];
  const { body: asked } = await ask(scene, 'chat', { input: 'Pay.', tools }, false);
  const question = list(asked, 'output').find((item) => at(item, 'type') === 'mcp_approval_request');
  const allow = { type: 'mcp_approval_response', approval_request_id: at(question, 'id'), approve: true };
  const words = wordsOf('chat');
  scene.upstream.script((exchange) => {
    exchange.openStream();
    exchange.chunk(words.opening + words.piece('Thank'));
    exchange.close();
  });
  const broken = await ask(
    scene,
    'chat',
    { previous_response_id: at(asked, 'id'), input: [allow], tools },
    true,
  );
  expect(at(broken.body, 'status')).toBe('failed');
  const types = list(broken.body, 'output').map((item) => at(item, 'type'));
  expect(types).toEqual(['mcp_call', 'message']);
});

test('a turn with endless calls ends after the maximum number of calls', async () => {
  const calls = Array.from({ length: 300 }, (_, place) => search(`call_${place}`));
  scene.web.clear();
  scene.upstream.script(says('chat', calls), says('chat', [{ text: 'Enough.' }]));
  const { body } = await ask(scene, 'chat', { input: 'Rivers?', tools: [SEARCH] }, false);
  expect(at(body, 'status')).toBe('completed');
  expect(scene.web.searches).toHaveLength(128);
  expect(reported(scene.upstream.requests.at(-1)).join('\n')).toContain('At most 128 tool calls');
});

test('ten thousand listed tools whose names collide cost no more than a list', async () => {
  const label = 'a'.repeat(70);
  const tools = Array.from({ length: 10_000 }, (_, n) => ({
    name: `tool${n}`,
    input_schema: { type: 'object' },
  }));
  const input = [
    { type: 'mcp_list_tools', id: 'mcpl_0123456789abcdef', server_label: label, tools },
    { role: 'user', content: 'Hello' },
  ];
  scene.upstream.script(says('chat', [{ text: 'Hi.' }]));
  const body = { input, tools: [serverAt(scene.mcp.url, { server_label: label })] };
  const began = usedMs();
  const { body: response } = await ask(scene, 'chat', body, false);
  expect(at(response, 'status')).toBe('completed');
  expect(usedMs() - began).toBeLessThan(2_000);
  const names = list(scene.upstream.requests.at(-1)?.json, 'tools').map((tool) =>
    String(at(tool, 'function', 'name')),
  );
  // The list of the client is longer than any server may have: the server itself was asked.
  expect(names).toHaveLength(Object.keys(MCP_TOOLS).length + 3);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
});

describe('a page', () => {
  const open = (url: string): Parameters<typeof says>[1] => [
    { call: 'open_page', id: 'call_o', args: { url } },
  ];
  const asked = async (text: string, url: string): Promise<string> => {
    scene.web.clear();
    scene.upstream.script(says('chat', open(url)), says('chat', [{ text: 'Read.' }]));
    await ask(scene, 'chat', { input: text, tools: [SEARCH] }, false);
    return reported(scene.upstream.requests.at(-1)).join('\n');
  };

  test('that the user named is opened; one that the model invented is not', async () => {
    const url = `${scene.web.origin}/ounas`;
    expect(await asked(`What does ${url} say?`, url)).toContain('It is 299 km long.');
    const made = `${scene.web.origin}/ounas?secret=of-the-conversation`;
    expect(await asked(`What does ${url} say?`, made)).toContain('may not be opened');
    expect(scene.web.reads).toEqual([]);
  });
});

test('text that an MCP server hides from people is hidden from models', async () => {
  const hidden = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  const call = { call: 'sums__echo', id: 'call_e', args: { text: `plain${hidden}` } };
  scene.upstream.script(says('chat', [call]), says('chat', [{ text: 'Heard.' }]));
  await ask(scene, 'chat', { input: 'Echo.', tools: [serverAt(scene.mcp.url)] }, false);
  expect(reported(scene.upstream.requests.at(-1)).join('\n')).toContain('plain');
  expect(String(scene.upstream.requests.at(-1)?.text.split('"role":"tool"').at(-1))).not.toContain(hidden);
});

test('a model that never stops calling tools is stopped after its last turn', async () => {
  scene.web.clear();
  const turns = Array.from({ length: 30 }, (_, turn) => says('chat', [search(`call_${turn}`)]));
  scene.upstream.script(...turns);
  const before = scene.upstream.requests.length;
  const { body } = await ask(scene, 'chat', { input: 'Rivers?', tools: [SEARCH] }, false);
  expect(at(body, 'status')).toBe('incomplete');
  expect(scene.upstream.requests.length - before).toBe(24);
  expect(scene.web.searches).toHaveLength(23);
});

test('a call that clients of Claude send back has its original name', async () => {
  const long = 'a-server-whose-label-is-long.and.illegal-at-most-upstreams-of-all';
  for (const label of ['sums', long]) {
    const tools = [{ type: 'mcp_toolset', mcp_server_name: label }];
    const mcp_servers = [{ type: 'url', url: scene.mcp.url, name: label }];
    const go = async (messages: unknown[]): Promise<unknown> => {
      const body = { model: 'to/chat', max_tokens: 500, messages, tools, mcp_servers };
      return (await scene.gateway.post('/messages', body)).json();
    };
    const question = { role: 'user', content: 'Add.' };
    scene.upstream.script(says('chat', [{ text: 'Which numbers?' }]));
    await go([question]);
    const names = list(scene.upstream.requests.at(-1)?.json, 'tools').map((tool) =>
      String(at(tool, 'function', 'name')),
    );
    const name = names.find((each) => each.includes('add') || each.startsWith('a-server')) ?? '';
    scene.upstream.script(
      says('chat', [{ call: name, id: 'call_a', args: { a: 1, b: 2 } }]),
      says('chat', [{ text: 'Three.' }]),
    );
    const first = await go([question]);
    scene.upstream.script(says('chat', [{ text: 'Indeed.' }]));
    await go([
      question,
      { role: 'assistant', content: at(first, 'content') },
      { role: 'user', content: 'Sure?' },
    ]);
    expect(scene.upstream.requests.at(-1)?.text).toContain(`"name":"${name}","arguments"`);
  }
});

test('a failed search is reported as one to clients of Claude', async () => {
  scene.web.next(() => new Response('broken', { status: 500 }));
  scene.upstream.script(says('chat', [search('call_a')]), says('chat', [{ text: 'I could not look.' }]));
  const response = await scene.gateway.post('/messages', {
    model: 'to/chat',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Rivers?' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  });
  const content = list(await response.json(), 'content');
  expect(content.map((block) => at(block, 'type'))).toEqual([
    'server_tool_use',
    'web_search_tool_result',
    'text',
  ]);
  expect(at(content[1], 'content', 'type')).toBe('web_search_tool_result_error');
});

test('an approval without its server is refused', async () => {
  const approval = { type: 'mcp_approval_response', approval_request_id: 'mcpr_x', approve: true };
  const lonely = await ask(scene, 'chat', { input: [approval] }, false);
  expect([lonely.status, at(lonely.body, 'error', 'param')]).toEqual([400, 'tools']);
  // Only its vendor knows what was asked of a connector.
  scene.upstream.script(says('relay', [{ text: 'Done.' }]));
  const tools = [{ type: 'mcp', server_label: 'mail', connector_id: 'connector_gmail' }];
  expect((await ask(scene, 'relay', { input: [approval], tools }, false)).status).toBe(200);
});

test('a request cannot use the label of a configured server', async () => {
  const own = await startToolScene({ mcp: (url) => ({ servers: { ops: { url } } }) });
  await using _ = own;
  const tools = [serverAt('https://elsewhere.example/mcp', { server_label: 'ops' })];
  const { status, body } = await ask(own, 'chat', { input: 'Hello', tools }, false);
  expect([status, at(body, 'error', 'param')]).toEqual([400, 'tools[0].server_url']);
});
