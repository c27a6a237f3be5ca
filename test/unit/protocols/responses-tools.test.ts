// Tools that only the Responses API knows, on upstreams of other protocols: what the model is offered, what it reads of
// earlier calls, and what the client gets back. Through the codecs, byte for byte as an upstream and a client see it.
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import type { CanonicalEvent, EventSink, ProtocolName } from '../../../src/canonical/index.ts';
import { asArray, asObject } from '../../../src/base/json/index.ts';
import { GatewayError, Report } from '../../../src/canonical/index.ts';
import { CLIENT_TOOLS } from '../../../src/protocols/openai-responses/requests/client-tools.ts';
import { findProtocol } from '../../../src/protocols/index.ts';
import { openaiResponses } from '../../../src/protocols/openai-responses/index.ts';
import {
  portableRequest,
  type PortableRequest,
} from '../../../src/protocols/openai-responses/requests/portable-request.ts';
import { ToolRestorer } from '../../../src/protocols/openai-responses/answers/tool-restorer.ts';
import { codecContext, fillTarget } from '../../support/golden-operations.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { checkResponseStream } from '../../support/rules/responses-stream-rules.ts';

const CHAT = { protocol: 'openai-chat', faithful: false } as const;

function portable(
  body: JsonObject,
  upstream: { protocol: ProtocolName; faithful: boolean } = CHAT,
): PortableRequest {
  const request = openaiResponses.server.decodeRequest({ model: 'm', input: 'hi', ...body });
  return portableRequest(request, upstream, new Report());
}

/** Body that the upstream gets. */
function sent(body: JsonObject, protocol: ProtocolName = 'openai-chat'): JsonObject {
  const { request } = portable(body, { protocol, faithful: false });
  const upstream = findProtocol(protocol)?.upstream;
  if (!upstream) throw new TypeError('no upstream');
  return upstream.encodeRequest(request, fillTarget({ maxOutputTokens: 1000 }), new Report());
}

/** The items that the client gets when a model over Chat Completions makes these calls. */
function answered(
  body: JsonObject,
  calls: readonly { name: string; arguments: string }[],
  text = '',
): readonly JsonObject[] {
  const { request, replacedTools } = portable(body);
  let out = '';
  const encoder = openaiResponses.server.encodeStream((frames) => (out += frames), {
    id: '0199aabbccdd00112233445566778899',
    createdSeconds: 1_700_000_000,
    model: 'm',
    reasoningContentMirror: false,
    request,
  });
  const decoder = findProtocol('openai-chat')?.upstream.decodeStream(
    withUsage(new ToolRestorer(encoder, replacedTools)),
    codecContext(),
  );
  const chunk = (delta: object, finish_reason: string | null = null): void =>
    decoder?.frame(
      '',
      JSON.stringify({ id: 'c', model: 'x', choices: [{ index: 0, delta, finish_reason }] }),
    );
  chunk({ role: 'assistant' });
  calls.forEach(({ name }, index) =>
    chunk({
      tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
    }),
  );
  // One letter at a time, the calls in turn.
  const longest = Math.max(0, ...calls.map((call) => call.arguments.length));
  for (let at = 0; at < longest; at++) {
    calls.forEach((call, index) => {
      const letter = call.arguments[at];
      if (letter !== undefined) chunk({ tool_calls: [{ index, function: { arguments: letter } }] });
    });
  }
  if (text !== '') chunk({ content: text });
  chunk({}, 'tool_calls');
  decoder?.end();
  const frames = framesOf(out);
  expect(checkResponseStream(frames)).toEqual([]);
  const last = JSON.parse(frames.at(-1)?.data ?? '{}') as { response: { output: JsonObject[] } };
  return last.response.output;
}

function withUsage(next: EventSink): EventSink {
  const usage: CanonicalEvent = {
    type: 'usage',
    usage: {
      input: { uncached: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, audio: 0, image: 0 },
      output: { text: 1, reasoning: 0, audio: 0 },
      tools: {},
      acceptedPrediction: 0,
      rejectedPrediction: 0,
      estimated: false,
      raw: null,
    },
  };
  return {
    on(event) {
      if (event.type === 'finish') next.on(usage);
      next.on(event);
    },
  };
}

const namespace = {
  type: 'namespace',
  name: 'crm',
  description: 'Customers',
  tools: [
    { type: 'function', name: 'find', parameters: { type: 'object', properties: {} } },
    { type: 'custom', name: 'query', description: 'A query' },
  ],
};

describe('tools that the client runs', () => {
  const tools = [
    { type: 'shell' },
    { type: 'local_shell' },
    { type: 'apply_patch' },
    { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'browser' },
  ];

  test.each(['openai-chat', 'anthropic-messages', 'openai-responses'] as const)(
    'reach %s as functions',
    (protocol) => {
      const names = asArray(sent({ tools }, protocol)['tools']).map((tool) => {
        const object = asObject(tool);
        return asObject(object['function'] ?? object)['name'];
      });
      expect(names).toEqual(['shell', 'local_shell', 'apply_patch', 'computer']);
    },
  );

  test('stay as they are for the owner of the protocol', () => {
    const request = portable({ tools }, { protocol: 'openai-responses', faithful: true });
    expect(request.request.tools.map((tool) => tool.type)).toEqual(['hosted', 'hosted', 'hosted', 'hosted']);
    expect(request.replacedTools.size).toBe(0);
  });

  test('use no name of another tool', () => {
    const own = { type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } };
    const { replacedTools } = portable({ tools: [own, { type: 'shell' }] });
    expect([...replacedTools.keys()]).toEqual(['shell_2']);
    expect(
      answered({ tools: [own, { type: 'shell' }] }, [
        { name: 'shell', arguments: '{}' },
        { name: 'shell_2', arguments: '{"commands":["ls"]}' },
      ]).map((item) => item['type']),
    ).toEqual(['function_call', 'shell_call']);
  });

  test('are returned as their own items, in order, among any other calls', () => {
    const output = answered(
      { tools: [...tools, { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] },
      [
        { name: 'shell', arguments: '{"commands":["ls -l","pwd"],"timeout_ms":1000}' },
        { name: 'f', arguments: '{"a":1}' },
        { name: 'local_shell', arguments: '{"command":["git","status"],"working_directory":"/w"}' },
        { name: 'apply_patch', arguments: '{"type":"update_file","path":"a.txt","diff":"-a\\n+b"}' },
        { name: 'computer', arguments: '{"type":"click","x":1,"y":2}' },
      ],
    );
    expect(output.map(({ id: _, ...item }) => item)).toEqual([
      {
        type: 'shell_call',
        call_id: 'call_0',
        status: 'completed',
        action: { commands: ['ls -l', 'pwd'], timeout_ms: 1000, max_output_length: null },
        environment: null,
      },
      { type: 'function_call', call_id: 'call_1', status: 'completed', name: 'f', arguments: '{"a":1}' },
      {
        type: 'local_shell_call',
        call_id: 'call_2',
        status: 'completed',
        action: { type: 'exec', command: ['git', 'status'], env: {}, working_directory: '/w' },
      },
      {
        type: 'apply_patch_call',
        call_id: 'call_3',
        status: 'completed',
        operation: { type: 'update_file', path: 'a.txt', diff: '-a\n+b' },
      },
      {
        type: 'computer_call',
        call_id: 'call_4',
        status: 'completed',
        action: { type: 'click', x: 1, y: 2, button: 'left' },
        pending_safety_checks: [],
      },
    ]);
    expect(output.map((item) => String(item['id']).split('_')[0])).toEqual(['sh', 'fc', 'lsh', 'apc', 'cu']);
  });

  test('a call that makes no sense stays a function call: nothing is run by guesswork', () => {
    for (const args of ['{"commands":[]}', '{"commands":[1]}', '{"comm', '[]', '']) {
      const [item] = answered({ tools }, [{ name: 'shell', arguments: args }]);
      expect(item).toMatchObject({ type: 'function_call', name: 'shell', arguments: args });
    }
  });

  test('items after a call wait for it', () => {
    const output = answered({ tools }, [{ name: 'shell', arguments: '{"commands":["ls"]}' }], 'Done.');
    expect(output.map((item) => item['type'])).toContain('shell_call');
    expect(output.map((item) => item['type'])).toContain('message');
  });

  test('a failure drops the interrupted call', () => {
    const { replacedTools } = portable({ tools });
    const seen: string[] = [];
    const restorer = new ToolRestorer({ on: (event) => seen.push(event.type) }, replacedTools);
    const item = { type: 'tool_call', kind: 'function', callId: 'c', name: 'shell' } as const;
    restorer.on({ type: 'open', index: 0, item });
    restorer.on({ type: 'arguments', index: 0, text: '{"commands":["rm -rf build' });
    restorer.on({ type: 'error', error: new GatewayError('timeout', 'too slow') });
    expect(seen).toEqual(['error']);
  });

  test('earlier calls and outputs are calls and results of the functions', () => {
    const input = [
      { role: 'user', content: 'look' },
      { type: 'shell_call', call_id: 'c1', action: { commands: ['ls'], timeout_ms: null } },
      {
        type: 'shell_call_output',
        call_id: 'c1',
        output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      {
        type: 'local_shell_call',
        id: 'lsh_1',
        call_id: 'c2',
        status: 'completed',
        action: { type: 'exec', command: ['pwd'], env: {} },
      },
      { type: 'local_shell_call_output', id: 'lsh_1', output: '{"output":"/w"}' },
      {
        type: 'apply_patch_call',
        call_id: 'c3',
        status: 'completed',
        operation: { type: 'delete_file', path: 'a' },
      },
      { type: 'apply_patch_call_output', call_id: 'c3', status: 'failed', output: 'no such file' },
      { type: 'computer_call', call_id: 'c4', action: { type: 'screenshot' } },
      {
        type: 'computer_call_output',
        call_id: 'c4',
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,aGk=' },
      },
    ];
    const { request } = portable({ input, tools });
    const items = request.items.slice(1);
    expect(items.map((item) => ('callId' in item ? `${item.type} ${item.callId}` : item.type))).toEqual(
      ['c1', 'c2', 'c3', 'c4'].flatMap((id) => [`tool_call ${id}`, `tool_result ${id}`]),
    );
    expect(items.map((item) => ('arguments' in item ? item.arguments : ''))).toEqual([
      '{"commands":["ls"]}',
      '',
      '{"command":["pwd"],"env":{}}',
      '',
      '{"type":"delete_file","path":"a"}',
      '',
      '{"type":"screenshot"}',
      '',
    ]);
    expect(items[5]).toMatchObject({ isError: true, parts: [{ type: 'text', text: 'no such file' }] });
    expect(items[7]).toMatchObject({ parts: [{ type: 'image', media: { kind: 'base64', data: 'aGk=' } }] });
  });

  test.each(CLIENT_TOOLS.map((tool) => [tool.types[0] ?? tool.name, tool] as const))(
    '%s: a call is unchanged after its translation to a function and back',
    (type, tool) => {
      const examples: Readonly<Record<string, JsonObject>> = {
        shell: { commands: ['ls'], timeout_ms: 5, max_output_length: 10 },
        local_shell: { command: ['ls'], env: { A: 'b' }, user: 'root' },
        apply_patch: { type: 'create_file', path: 'a', diff: '+a' },
        computer_use_preview: { type: 'drag', path: [{ x: 1, y: 2 }] },
        computer: { actions: [{ type: 'screenshot' }, { type: 'type', text: 'Hi' }] },
      };
      const args = examples[type] ?? {};
      const call = tool.callOf(args);
      expect(call && tool.argumentsOf(call)).toEqual(args);
    },
  );

  test('a choice of one is a choice of its function', () => {
    expect(sent({ tools, tool_choice: { type: 'shell' } })['tool_choice']).toEqual({
      type: 'function',
      function: { name: 'shell' },
    });
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'apply_patch' }] };
    expect(portable({ tools, tool_choice: allowed }).request.toolChoice).toEqual({
      type: 'allowed',
      mode: 'required',
      names: ['apply_patch'],
    });
  });
});

describe('groups of tools', () => {
  test('are flattened under unique names, and restored', () => {
    const clash = { type: 'function', name: 'crm__find', parameters: { type: 'object', properties: {} } };
    const { request, replacedTools } = portable({ tools: [clash, namespace] });
    expect(request.tools.map((tool) => (tool.type === 'hosted' ? '' : tool.name))).toEqual([
      'crm__find',
      'crm__find_2',
      'crm__query',
    ]);
    expect([...replacedTools.keys()]).toEqual(['crm__find_2', 'crm__query']);
    const [own, restored] = answered({ tools: [clash, namespace] }, [
      { name: 'crm__find', arguments: '{}' },
      { name: 'crm__find_2', arguments: '{"q":1}' },
    ]);
    expect(own).toMatchObject({ type: 'function_call', name: 'crm__find' });
    expect(own).not.toHaveProperty('namespace');
    expect(restored).toMatchObject({
      type: 'function_call',
      name: 'find',
      namespace: 'crm',
      arguments: '{"q":1}',
    });
  });

  test('earlier calls get the same names, and so does a choice', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'find', namespace: 'crm', arguments: '{}' };
    const { request } = portable({
      tools: [namespace],
      tool_choice: { type: 'function', name: 'find' },
      input: [call, { type: 'function_call_output', call_id: 'c', output: 'x' }],
    });
    expect(request.items[0]).toMatchObject({ type: 'tool_call', name: 'crm__find' });
    expect(request.toolChoice).toEqual({ type: 'tool', kind: 'function', name: 'crm__find' });
  });

  test('names stay within the limits of every upstream', () => {
    const long = { ...namespace, name: 'n'.repeat(70) };
    const { replacedTools } = portable({ tools: [long] });
    for (const name of replacedTools.keys()) expect(name.length).toBeLessThanOrEqual(64);
    expect(replacedTools.size).toBe(2);
  });
});

describe('strict, unsaid', () => {
  const open = { type: 'object', properties: { city: { type: 'string' } } };
  const closed = { ...open, required: ['city'], additionalProperties: false };

  test.each([
    ['is true for a schema that can be enforced', closed, undefined, true],
    ['stays unset for another', open, undefined, undefined],
    ['stays false if the client sets it', closed, false, false],
  ])('%s', (_, parameters, strict, expected) => {
    const tool: JsonObject = { type: 'function', name: 'f', parameters };
    const tools = [strict === undefined ? tool : { ...tool, strict }];
    const [given] = asArray(sent({ tools })['tools']);
    expect(asObject(asObject(given)['function'])['strict']).toBe(expected);
  });
});

describe('items that only the Responses API knows', () => {
  const input = [
    { role: 'user', content: 'hi' },
    { type: 'brand_new', x: 1 },
  ];

  test('reach an upstream of the same protocol as they are', () => {
    expect(asArray(sent({ input }, 'openai-responses')['input'])[1]).toEqual({ type: 'brand_new', x: 1 });
  });

  test('an unresolved reference is a 404', () => {
    const reference = { input: [{ type: 'item_reference', id: 'msg_1' }] };
    for (const protocol of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const) {
      let thrown: unknown;
      try {
        sent(reference, protocol);
      } catch (error) {
        thrown = error;
      }
      expect(GatewayError.is(thrown) && [thrown.status, thrown.param]).toEqual([404, 'input[0]']);
    }
  });
});
