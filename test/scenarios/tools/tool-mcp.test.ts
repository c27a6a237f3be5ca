// Tools of remote MCP servers that the gateway calls, as clients of the Responses API see them: lists, filters, names,
// choices, and servers that fail in every way. Over every protocol of the upstream, streamed and whole.
import { afterAll, describe, expect, test } from 'bun:test';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import type { McpServerScript } from '../../support/upstreams/mcp-server.ts';
import {
  geminiSays,
  MCP_TOOLS,
  serverAt,
  SIMULATED,
  SIMULATED_BOTH,
  startToolScene,
} from '../../support/upstreams/tool-scene.ts';
import {
  ask,
  result,
  says,
  reported,
  WEATHER,
  type Answered,
  type Said,
} from '../../support/responses-scene.ts';
import { PNG } from '../../support/images.ts';

const TOOLS: McpServerScript['tools'] = {
  ...MCP_TOOLS,
  throw: {
    run: () => {
      throw new Error('a bug');
    },
  },
  huge: { run: () => 'x'.repeat(300_000) },
  picture: { run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }) },
  'odd.name/with spaces': { run: () => 'odd' },
};

/** Answers also without the tools of a server that cannot be listed. */
const lenient = await startToolScene({ mcp: () => ({ on_unlisted: 'continue' }) });
const scene = await startToolScene({
  tools: TOOLS,
  mcp: (url) => ({ servers: { ops: { url, allowed_tools: ['add', 'echo'] } } }),
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await lenient[Symbol.asyncDispose]();
});

const SUM = 'call sums__add {"a": 1, "b": 2}';

function itemsOf({ body }: Answered, type: string): readonly Json[] {
  return list(body, 'output').filter((item) => at(item, 'type') === type);
}

function typesOf({ body }: Answered): string[] {
  return list(body, 'output')
    .map((item) => String(at(item, 'type')))
    .filter((type) => type !== 'reasoning');
}

const namesIn = (item: Json | undefined): Json[] =>
  list(item, 'tools').map((tool) => at(tool, 'name') ?? null);
const textOf = ({ body }: Answered): string => String(at(list(body, 'output').at(-1), 'content', 0, 'text'));

/** The name under which a model sees the one tool that begins so. @param but not this one */
async function offered(tools: readonly object[], start: string, but = ''): Promise<string> {
  scene.upstream.script(says('chat', [{ text: 'Hello.' }]));
  await ask(scene, 'chat', { input: 'Hi', tools }, false);
  const names = list(scene.upstream.requests[0]?.json, 'tools').map((tool) =>
    String(at(tool, 'function', 'name')),
  );
  const found = names.filter((name) => name.startsWith(start) && name !== but);
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

describe.each(SIMULATED_BOTH)('%s, streamed: %p', (model, stream) => {
  const go = (body: object): Promise<Answered> =>
    ask(scene, 'chat', { model, tools: [serverAt(scene.mcp.url)], ...body }, stream);

  test('shows the list of tools and a call', async () => {
    const answer = await go({ input: `Add.\n${SUM}` });
    expect(typesOf(answer)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const [listed] = itemsOf(answer, 'mcp_list_tools');
    expect(listed).toMatchObject({ id: expect.stringMatching(/^mcpl_/), server_label: 'sums', error: null });
    expect(namesIn(listed)).toEqual(Object.keys(TOOLS));
    expect(at(listed, 'tools', 0)).toEqual({
      name: 'add',
      description: 'Adds two numbers',
      input_schema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      annotations: { readOnlyHint: true },
    });
    expect(itemsOf(answer, 'mcp_call')).toEqual([
      {
        id: expect.stringMatching(/^mcp_/),
        type: 'mcp_call',
        status: 'completed',
        server_label: 'sums',
        name: 'add',
        arguments: '{"a":1,"b":2}',
        approval_request_id: null,
        output: 'the sum is 3',
        error: null,
      },
    ]);
    expect(textOf(answer)).toContain('the sum is 3');
  });

  test('a server is listed once in a conversation, in any continuation', async () => {
    // A session is ended behind the answer that it was for: only what an answer waits for is counted.
    const asked = (): number => scene.mcp.requests.filter(({ method }) => method === 'POST').length;
    const first = await go({ input: `Add.\n${SUM}` });
    const before = asked();
    const next = await go({ input: `And.\n${SUM}`, previous_response_id: first.id });
    expect(typesOf(next)).toEqual(['mcp_call', 'message']);
    const perAnswer = asked() - before;
    const output = list(first.body, 'output');
    const resent = await go({
      input: [{ role: 'user', content: 'Add.' }, ...output, { role: 'user', content: SUM }],
    });
    expect(typesOf(resent)).toEqual(['mcp_call', 'message']);
    expect(asked() - before).toBe(2 * perAnswer);
    // Nothing but talk: the server is not even connected to.
    const talked = asked();
    const talk = await go({ input: 'Thanks.', previous_response_id: next.id, tool_choice: 'none' });
    expect(typesOf(talk)).toEqual(['message']);
    expect(asked()).toBe(talked);
  });

  test.each([
    [{ allowed_tools: ['add'] }, ['add']],
    [{ allowed_tools: { tool_names: ['echo', 'add'] } }, ['add', 'echo']],
    [{ allowed_tools: { read_only: true } }, ['add']],
    [{ allowed_tools: { read_only: false, tool_names: ['add', 'fail'] } }, ['fail']],
    [{ allowed_tools: [] }, []],
  ])('offers only allowed tools: %j', async (members, names) => {
    const answer = await go({ tools: [serverAt(scene.mcp.url, members)], input: 'Hello, no tools' });
    expect(namesIn(itemsOf(answer, 'mcp_list_tools')[0])).toEqual(names);
  });

  test('a configured server is used by its label alone, within the configured permissions', async () => {
    const tools = [
      { type: 'mcp', server_label: 'ops', require_approval: 'never', allowed_tools: ['add', 'fail'] },
    ];
    const answer = await go({ tools, input: 'call ops__add {"a": 2, "b": 2}' });
    expect(namesIn(itemsOf(answer, 'mcp_list_tools')[0])).toEqual(['add']);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'output')).toBe('the sum is 4');
    expect(at(answer.body, 'tools')).toEqual(tools);
  });

  test.each([
    [
      'fail',
      { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: 'out of paper' }] },
      'out of paper',
    ],
    [
      'throw',
      { type: 'mcp_protocol_error', code: expect.any(Number), message: expect.stringContaining('a bug') },
      'a bug',
    ],
  ])('the failure of a tool is in its item and is sent to the model: %s', async (name, error, words) => {
    const answer = await go({ input: `call sums__${name} {}` });
    expect(itemsOf(answer, 'mcp_call')[0]).toMatchObject({ status: 'failed', output: null, error });
    expect(at(answer.body, 'status')).toBe('completed');
    expect(textOf(answer)).toContain(words);
    if (stream) expect(answer.frames.map(({ event }) => event)).toContain('response.mcp_call.failed');
  });

  test('names that no upstream takes are changed for the model alone', async () => {
    const name = await offered([serverAt(scene.mcp.url)], 'sums__odd');
    expect(name).toMatch(/^[\w-]{1,64}$/);
    const answer = await go({ input: `call ${name} {}` });
    expect(itemsOf(answer, 'mcp_call')[0]).toMatchObject({ name: 'odd.name/with spaces', output: 'odd' });
  });

  test('a function of the client that has the same name stays the client’s', async () => {
    const own = { ...WEATHER, name: 'sums__add' };
    const tools = [serverAt(scene.mcp.url), own];
    const mine = await go({ tools, input: 'call sums__add {"city": "Oulu"}' });
    expect(typesOf(mine)).toEqual(['mcp_list_tools', 'function_call']);
    const name = await offered(tools, 'sums__add', 'sums__add');
    const theirs = await go({ tools, input: `call ${name} {"a": 1, "b": 1}` });
    expect(itemsOf(theirs, 'mcp_call')[0]).toMatchObject({ name: 'add', output: 'the sum is 2' });
  });

  test('obeys the choice of one tool of the server', async () => {
    const tool_choice = { type: 'mcp', server_label: 'sums', name: 'echo' };
    const answer = await go({ input: 'Say it again', tool_choice });
    expect(itemsOf(answer, 'mcp_call').map((item) => at(item, 'name') ?? null)).toEqual(['echo']);
    expect(at(answer.body, 'tool_choice')).toEqual(tool_choice);
  });

  test('obeys the choice among some tools of several kinds', async () => {
    const tools = [serverAt(scene.mcp.url), WEATHER];
    const tool_choice = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'mcp', server_label: 'sums', name: 'echo' }],
    };
    const answer = await go({ tools, tool_choice, input: 'call sums__echo {"text": "hi"}' });
    expect(itemsOf(answer, 'mcp_call').map((item) => at(item, 'name') ?? null)).toEqual(['echo']);
  });

  test.each([
    ['required', 'required'],
    ['its tool', { type: 'mcp', server_label: 'gone', name: 'add' }],
    ['the server', { type: 'mcp', server_label: 'gone' }],
  ])(
    'a server that cannot be listed is reported if requested, and no choice of its tools remains: %s',
    async (_, tool_choice) => {
      const tools = [serverAt(`${lenient.web.origin}/no-mcp-here`, { server_label: 'gone' })];
      const goOn = (body: object): Promise<Answered> =>
        ask(lenient, 'chat', { model, tools, ...body }, stream);
      const answer = await goOn({ tool_choice, input: 'Hello' });
      expect(typesOf(answer)).toEqual(['mcp_list_tools', 'message']);
      expect(itemsOf(answer, 'mcp_list_tools')[0]).toMatchObject({
        tools: [],
        error: expect.stringContaining('gone'),
      });
      if (stream) expect(answer.frames.map(({ event }) => event)).toContain('response.mcp_list_tools.failed');
      const again = await goOn({ input: 'Again', previous_response_id: answer.id });
      expect(typesOf(again)).toEqual(['mcp_list_tools', 'message']);
    },
  );
});

test.each(SIMULATED)('%s: a huge result is truncated, and the model is informed', async (model) => {
  const body = { model, tools: [serverAt(scene.mcp.url)], input: 'call sums__huge {}' };
  const answer = await ask(scene, 'chat', body, false);
  const output = String(at(itemsOf(answer, 'mcp_call')[0], 'output'));
  expect(output.length).toBeLessThan(256 * 1024 + 100);
  expect(output).toEndWith('[The result was truncated: it is too long.]');
});

describe('the events of a list and a call', () => {
  test.each(SIMULATED_BOTH.filter(([, stream]) => stream).map(([model]) => model))(
    'have the order of OpenAI for %s',
    async (model) => {
      const body = { model, tools: [serverAt(scene.mcp.url)], input: SUM };
      const { frames, ...answer } = await ask(scene, 'chat', body, true);
      const eventsOf = (type: string): Json[] => {
        const id = at(itemsOf({ ...answer, frames }, type)[0], 'id');
        return frames
          .map(({ data }) => JSON.parse(data) as Json)
          .filter((event) => (at(event, 'item_id') ?? at(event, 'item', 'id')) === id)
          .map((event) => at(event, 'type') ?? null);
      };
      expect(eventsOf('mcp_list_tools')).toEqual([
        'response.output_item.added',
        'response.mcp_list_tools.in_progress',
        'response.mcp_list_tools.completed',
        'response.output_item.done',
      ]);
      expect(eventsOf('mcp_call')).toEqual([
        'response.output_item.added',
        'response.mcp_call.in_progress',
        'response.mcp_call_arguments.delta',
        'response.mcp_call_arguments.done',
        'response.mcp_call.completed',
        'response.output_item.done',
      ]);
    },
  );
});

const WAYS = ['chat', 'responses', 'messages'] as const;

describe.each(WAYS)('over %s', (way) => {
  test('an image is shown to the model', async () => {
    scene.upstream.script(
      says(way, [{ call: 'sums__picture', id: 'call_a', args: {} }]),
      says(way, [{ text: 'Seen.' }]),
    );
    const answer = await ask(scene, way, { input: 'Look', tools: [serverAt(scene.mcp.url)] }, true);
    expect(scene.upstream.requests[1]?.text).toContain(PNG);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'output')).toBe('[image image/png]');
  });

  test('calls in one turn run together, a client’s among them', async () => {
    scene.upstream.script(
      says(way, [
        { call: 'sums__add', id: 'call_a', args: { a: 1, b: 1 } },
        { call: 'sums__fail', id: 'call_b', args: {} },
        { call: 'get_weather', id: 'call_c', args: { city: 'Oulu' } },
      ]),
      says(way, [{ text: 'Done.' }]),
    );
    const tools = [serverAt(scene.mcp.url), WEATHER];
    const first = await ask(scene, way, { input: 'Go', tools }, true);
    expect(typesOf(first).toSorted()).toEqual(['function_call', 'mcp_call', 'mcp_call', 'mcp_list_tools']);
    const next = { tools, input: [result('call_c', 'fog')], previous_response_id: first.id };
    await ask(scene, way, next, false);
    const lines = reported(scene.upstream.requests[1]).filter((line) => line.startsWith('result '));
    expect(lines).toHaveLength(3);
    expect(lines.join('\n')).toMatch(/the sum is 2[^]*out of paper[^]*fog/);
  });

  test.each([0, 1, 2])(
    'a client’s call in place %p of such a turn is answered on any other upstream',
    async (place) => {
      const calls: Said[] = [
        { call: 'sums__add', id: 'call_a', args: { a: 1, b: 1 } },
        { call: 'sums__fail', id: 'call_b', args: {} },
      ];
      calls.splice(place, 0, { call: 'get_weather', id: 'call_c', args: { city: 'Oulu' } });
      scene.upstream.script(says(way, calls));
      const tools = [serverAt(scene.mcp.url), WEATHER];
      const first = await ask(scene, way, { input: 'Go', tools }, true);
      const input = [result('call_c', 'fog')];
      for (const model of SIMULATED) {
        const next = await ask(scene, way, { model, tools, input, previous_response_id: first.id }, true);
        expect(at(next.body, 'status')).toBe('completed');
        expect(textOf(next)).toContain('fog');
      }
    },
  );
});

// Over Messages they are always one.
test.each(['chat', 'responses'] as const)(
  'over %s, the model gets an error for arguments that are no object',
  async (way) => {
    scene.upstream.script(
      says(way, [{ call: 'sums__add', id: 'call_a', args: [1, 2] }]),
      says(way, [{ text: 'Sorry.' }]),
    );
    const before = scene.mcp.calls.length;
    const answer = await ask(scene, way, { input: 'Go', tools: [serverAt(scene.mcp.url)] }, false);
    expect(at(itemsOf(answer, 'mcp_call')[0], 'error', 'message')).toContain('not a JSON object');
    expect(scene.mcp.calls).toHaveLength(before);
  },
);

describe.each([false, true])('over gemini, streamed: %p', (stream) => {
  test('sends both results after a call of the gateway’s tool and one of the client’s', async () => {
    const call = (name: string, args: object): object => ({ functionCall: { name, args } });
    scene.upstream.script(
      geminiSays([call('get_weather', { city: 'Oulu' }), call('sums__add', { a: 1, b: 1 })]),
      geminiSays([{ text: 'Done.' }]),
    );
    const tools = [serverAt(scene.mcp.url), WEATHER];
    const body = { model: 'to/gemini', tools };
    const first = await ask(scene, 'chat', { ...body, input: 'Go' }, stream);
    expect(typesOf(first).toSorted()).toEqual(['function_call', 'mcp_call', 'mcp_list_tools']);
    const own = itemsOf(first, 'function_call')[0];
    const input = [result(String(at(own, 'call_id')), 'fog')];
    const second = await ask(scene, 'chat', { ...body, input, previous_response_id: first.id }, stream);
    expect(textOf(second)).toBe('Done.');
    const contents = list(scene.upstream.requests[1]?.json, 'contents');
    // One turn with both calls, one with both results: Gemini takes no other order.
    expect(contents.map((content) => at(content, 'role') ?? null)).toEqual(['user', 'model', 'user']);
    expect(list(contents[1], 'parts').filter((part) => at(part, 'functionCall'))).toHaveLength(2);
    expect(list(contents[2], 'parts').filter((part) => at(part, 'functionResponse'))).toHaveLength(2);
    expect(JSON.stringify(contents[2])).toMatch(/the sum is 2[^]*fog|fog[^]*the sum is 2/);
  });
});

describe('servers that may not be called', () => {
  test.each([
    ['no address and no such label', { server_label: 'nobody' }, 'tools[0].server_url'],
    ['no label', { server_url: 'https://mcp.example/' }, 'tools[0].server_label'],
    ['no address at all', { server_label: 'x', server_url: 'not an address' }, 'tools[0]'],
  ])('%s: a 400 that names the place', async (_, members, param) => {
    const body = {
      model: 'sim/chat',
      input: 'Hi',
      tools: [{ type: 'mcp', require_approval: 'never', ...members }],
    };
    const refused = await ask(scene, 'chat', body, false);
    expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, param]);
  });

  test('two servers of one label', async () => {
    const tools = [serverAt(scene.mcp.url), serverAt('https://mcp.example/')];
    const refused = await ask(scene, 'chat', { model: 'sim/chat', input: 'Hi', tools }, true);
    expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[1].server_label']);
  });

  test('an address with another scheme is a 400, or an error in the list of tools', async () => {
    const body = { model: 'sim/chat', input: 'Hi', tools: [serverAt('file:///etc/passwd')] };
    const refused = await ask(scene, 'chat', body, false);
    expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[0]']);
    expect(String(at(refused.body, 'error', 'message'))).toContain('only http and https');
    const answer = await ask(lenient, 'chat', body, false);
    expect(String(at(itemsOf(answer, 'mcp_list_tools')[0], 'error'))).toContain('only http and https');
  });

  test('a private address from a request is not connected to', async () => {
    await using closed = await startToolScene({ config: { fetch: { allow: [] } } });
    const body = { model: 'sim/chat', input: SUM, tools: [serverAt(closed.mcp.url)] };
    const refused = await ask(closed, 'chat', body, false);
    expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[0]']);
    expect(String(at(refused.body, 'error', 'message'))).toContain('may not be fetched');
    expect(closed.mcp.requests).toHaveLength(0);
  });

  test('requests may be forbidden to bring servers', async () => {
    await using closed = await startToolScene({
      mcp: (url) => ({ from_requests: false, servers: { ops: { url } } }),
    });
    const body = { model: 'sim/chat', input: 'Hi', tools: [serverAt(closed.mcp.url)] };
    const refused = await ask(closed, 'chat', body, true);
    expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[0].server_url']);
    const ours = { ...body, tools: [{ type: 'mcp', server_label: 'ops', require_approval: 'never' }] };
    expect((await ask(closed, 'chat', ours, true)).status).toBe(200);
  });
});
