// Sessions with MCP servers, against the official SDK's server on real sockets: what comes back, and what happens when
// a server is slow, forgetful, greedy or gone.
import { describe, expect, test } from 'bun:test';
import type { McpServer, McpSession } from '../../../src/engine/tools/mcp/session.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import {
  failureOf,
  openMcpSession,
  PATIENT,
  type SessionsSetup,
} from '../../support/upstreams/mcp-server-session.ts';
import {
  RETRY_MS,
  startMcpServer,
  type McpServerScript,
  type RunningMcpServer,
} from '../../support/upstreams/mcp-server.ts';
import { undoAfterEach } from '../../support/undo.ts';

const started = undoAfterEach();

function serve(script: McpServerScript): RunningMcpServer {
  const server = startMcpServer(script);
  started.push(() => server.stop());
  return server;
}

function open(url: string, setup?: SessionsSetup, server?: Partial<McpServer>): McpSession {
  const session = openMcpSession(url, setup, server);
  started.push(() => session.close());
  return session;
}

/** Something that is waited for until a test lets it happen. */
function gate(): { readonly passed: Promise<void>; pass(): void } {
  let pass = (): void => {};
  const passed = new Promise<void>((resolve) => (pass = resolve));
  return { passed, pass: () => pass() };
}

async function bodyOf(request: Request): Promise<{ method?: string; id?: number }> {
  return request.method === 'POST' ? ((await request.clone().json()) as object) : {};
}

const echo = { run: (args: Record<string, unknown>) => JSON.stringify(args) };

describe.each(['http', 'json', 'sse', 'stateless', 'later'] as const)('over %s', (transport) => {
  const hasSessions = transport !== 'stateless' && transport !== 'later';

  test('tools are listed and called, and the session is ended', async () => {
    const inputSchema = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
    const annotations = { readOnlyHint: true };
    const server = serve({
      transport,
      tools: { echo: { ...echo, description: 'Says it again.', inputSchema, annotations }, other: echo },
    });
    const session = open(server.url);
    expect(server.requests).toEqual([]);
    expect(await session.listTools(PATIENT)).toEqual([
      { name: 'echo', description: 'Says it again.', inputSchema, annotations },
      { name: 'other', inputSchema: { type: 'object' } },
    ]);
    expect(await session.callTool('echo', { word: 'Grüße 🎉' }, PATIENT)).toEqual({
      parts: [{ type: 'text', text: '{"word":"Grüße 🎉"}' }],
      isError: false,
      truncated: false,
    });
    expect(server.calls).toEqual([{ name: 'echo', args: { word: 'Grüße 🎉' } }]);
    expect(server.sessions).toBe(hasSessions ? 1 : 0);
    await session.close();
    await server.ended();
  });

  test('calls at the same time share one connection', async () => {
    const both = gate();
    const server = serve({
      transport,
      tools: {
        meet: {
          async run({ id }) {
            if (server.calls.length === 2) both.pass();
            await both.passed;
            return String(id);
          },
        },
      },
    });
    const session = open(server.url);
    const results = await Promise.all([1, 2].map((id) => session.callTool('meet', { id }, PATIENT)));
    expect(results.flatMap(({ parts }) => parts)).toEqual([
      { type: 'text', text: '1' },
      { type: 'text', text: '2' },
    ]);
    expect(server.sessions).toBe(hasSessions ? 1 : 0);
  });

  test('a tool that fails is a result, one that throws is an error', async () => {
    const server = serve({
      transport,
      tools: {
        fails: { run: () => ({ content: [{ type: 'text', text: 'disk full' }], isError: true }) },
        throws: {
          run() {
            throw new Error('out of paper');
          },
        },
      },
    });
    const session = open(server.url);
    expect(await session.callTool('fails', {}, PATIENT)).toEqual({
      parts: [{ type: 'text', text: 'disk full' }],
      isError: true,
      truncated: false,
    });
    const thrown = await failureOf(session.callTool('throws', {}, PATIENT));
    expect(thrown.code).toBe('mcp_protocol_error');
    expect(thrown.message).toBe('MCP server "things" returned an error: out of paper (-32603)');
    const unknown = await failureOf(session.callTool('none', {}, PATIENT));
    expect(unknown.message).toContain('no tool is called none');
  });

  test('a call that takes too long is cancelled at its server; the session continues', async () => {
    const clock = new ManualClock();
    const reported = gate();
    const server = serve({
      transport,
      tools: {
        echo,
        slow: {
          async run(_, { signal }) {
            signal.addEventListener('abort', reported.pass);
            await reported.passed;
            return 'too late';
          },
        },
      },
    });
    const session = open(server.url, { clock, limits: { timeoutMs: 5000 } });
    const call = failureOf(session.callTool('slow', {}, PATIENT));
    await server.called('slow');
    clock.advance(4999);
    clock.advance(1);
    const { code, kind, message } = await call;
    expect([code, kind]).toEqual(['mcp_timeout', 'timeout']);
    expect(message).toBe('MCP server "things" took longer than 5000 ms');
    await reported.passed;
    expect((await session.callTool('echo', {}, PATIENT)).parts).toEqual([{ type: 'text', text: '{}' }]);
  });

  test('progress notifications extend a call', async () => {
    const clock = new ArmedClock();
    const step = [gate(), gate()] as const;
    const server = serve({
      transport,
      // A single body cannot carry them.
      ...(transport === 'json' && { transport: 'http' as const }),
      tools: {
        slow: {
          async run(_, { progress }) {
            await step[0].passed;
            await progress(1);
            await step[1].passed;
            return 'done';
          },
        },
      },
    });
    const session = open(server.url, { clock, limits: { timeoutMs: 5000 } });
    const call = session.callTool('slow', {}, PATIENT);
    await server.called('slow');
    clock.advance(4000);
    clock.waits.length = 0;
    step[0].pass();
    await clock.armed();
    expect(clock.waits).toEqual([5000]);
    clock.advance(4000);
    step[1].pass();
    expect((await call).parts).toEqual([{ type: 'text', text: 'done' }]);
  });

  test('progress notifications do not extend a call without limit', async () => {
    const clock = new ArmedClock();
    let report = (): Promise<void> => Promise.resolve();
    const over = gate();
    const server = serve({
      transport,
      ...(transport === 'json' && { transport: 'http' as const }),
      tools: {
        slow: {
          async run(_, { progress }) {
            let count = 0;
            report = () => progress(++count);
            await over.passed;
            return 'done';
          },
        },
      },
    });
    const session = open(server.url, { clock, limits: { timeoutMs: 5000 } });
    const call = failureOf(session.callTool('slow', {}, PATIENT));
    await server.called('slow');
    for (let step = 0; step < 6; step++) {
      clock.advance(4000);
      clock.waits.length = 0;
      const armed = clock.armed();
      await report();
      await armed;
    }
    clock.advance(1000);
    expect(await call).toMatchObject({ code: 'mcp_timeout', message: expect.stringContaining('25000 ms') });
    over.pass();
  });

  test('a call whose request was cancelled is cancelled at the server', async () => {
    const reported = gate();
    const server = serve({
      transport,
      tools: {
        slow: {
          async run(_, { signal }) {
            signal.addEventListener('abort', reported.pass);
            await reported.passed;
            return '';
          },
        },
      },
    });
    const session = open(server.url);
    const caller = new AbortController();
    const call = failureOf(session.callTool('slow', {}, caller.signal));
    await server.called('slow');
    caller.abort();
    expect((await call).kind).toBe('cancelled');
    await reported.passed;
    expect((await failureOf(session.callTool('slow', {}, caller.signal))).kind).toBe('cancelled');
    expect(server.calls.length).toBe(1);
  });

  test('a server that dies in the middle of a call fails it at once', async () => {
    const server = serve({
      transport,
      tools: {
        die: {
          async run(_, { die, signal }) {
            die();
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          },
        },
      },
    });
    const session = open(server.url);
    const { code, kind } = await failureOf(session.callTool('die', {}, PATIENT));
    expect([code, kind]).toEqual(['mcp_unavailable', 'upstream_unavailable']);
    expect((await failureOf(session.callTool('die', {}, PATIENT))).code).toBe('mcp_unavailable');
  });

  test('a session that the server forgot is begun again, once', async () => {
    const server = serve({ transport, tools: { echo } });
    const session = open(server.url);
    await session.callTool('echo', { a: 1 }, PATIENT);
    server.forget();
    const { parts } = await session.callTool('echo', { a: 2 }, PATIENT);
    expect(parts).toEqual([{ type: 'text', text: '{"a":2}' }]);
    expect(server.calls.map(({ args }) => args)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('a session whose stream the server closed is started again', async () => {
    const wait = { run: () => new Promise(() => {}) };
    const server = serve({ transport, tools: { echo, wait } });
    const session = open(server.url);
    if (transport === 'sse') {
      // Its answer could only come on the stream that is gone.
      const waiting = failureOf(session.callTool('wait', {}, PATIENT));
      await server.called('wait');
      await server.hangUp();
      expect((await waiting).code).toBe('mcp_unavailable');
    } else {
      await session.callTool('echo', {}, PATIENT);
      await server.hangUp();
    }
    expect((await session.callTool('echo', {}, PATIENT)).parts).toEqual([{ type: 'text', text: '{}' }]);
  });

  test('a session that is closed ends its calls and begins no others', async () => {
    const server = serve({ transport, tools: { slow: { run: () => new Promise(() => {}) } } });
    const session = open(server.url);
    const call = failureOf(session.callTool('slow', {}, PATIENT));
    await server.called('slow');
    await session.close();
    expect((await call).code).toBe('mcp_cancelled');
    expect((await failureOf(session.callTool('slow', {}, PATIENT))).code).toBe('mcp_cancelled');
    await server.ended();
  });
});

describe('a server that sends requests itself', () => {
  test.each(['http', 'sse'] as const)('is refused, and does not wait, over %s', async (transport) => {
    const asked = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'ping'];
    const server = serve({
      transport,
      tools: {
        ask: {
          async run(_, { ask }) {
            const answers = asked.map((method) =>
              ask(method, {}).then(JSON.stringify, (error: unknown) => String(error)),
            );
            return (await Promise.all(answers)).join('\n');
          },
        },
      },
    });
    const { parts } = await open(server.url).callTool('ask', {}, PATIENT);
    const [text] = parts.map((part) => (part.type === 'text' ? part.text.split('\n') : []));
    expect(text?.slice(0, 3).every((line) => line.includes('Method not found'))).toBe(true);
    expect(text?.[3]).toBe('{}');
  });

  test('is refused if its result contains a request', async () => {
    const form = {
      method: 'elicitation/create',
      params: { mode: 'form', message: 'Who?', requestedSchema: {} },
    };
    const server = serve({
      transport: 'later',
      tools: { ask: { run: () => ({ resultType: 'input_required', inputRequests: { who: form } }) } },
    });
    const { code, message } = await failureOf(open(server.url).callTool('ask', {}, PATIENT));
    expect(code).toBe('mcp_unavailable');
    expect(message).toContain('elicitation/create');
  });
});

test('arguments that a server also requires as headers are sent so', async () => {
  const properties = { region: { type: 'string', 'x-mcp-header': 'Region' } };
  const server = serve({
    transport: 'later',
    tools: { echo: { ...echo, inputSchema: { type: 'object', properties } } },
    async intercept(request) {
      const { method, id } = await bodyOf(request);
      if (method !== 'tools/call' || request.headers.get('mcp-param-region') === 'eu') return undefined;
      const error = { code: -32_020, message: 'the headers disagree with the body' };
      return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
    },
  });
  const { parts } = await open(server.url).callTool('echo', { region: 'eu' }, PATIENT);
  expect(parts).toEqual([{ type: 'text', text: '{"region":"eu"}' }]);
});

test('a stream that the server closes until a later request is resumed', async () => {
  const clock = new ArmedClock();
  const answer = gate();
  const server = serve({
    resumable: true,
    tools: {
      later: {
        async run(_, { hangUp }) {
          hangUp();
          await answer.passed;
          return 'here it is';
        },
      },
    },
  });
  const session = open(server.url, { clock });
  await session.listTools(PATIENT);
  clock.waits.length = 0;
  const call = session.callTool('later', {}, PATIENT);
  await server.called('later');
  while (!clock.waits.includes(RETRY_MS)) {
    clock.waits.length = 0;
    await clock.armed();
  }
  answer.pass();
  clock.advance(RETRY_MS);
  expect((await call).parts).toEqual([{ type: 'text', text: 'here it is' }]);
  expect(server.calls.length).toBe(1);
});

describe('the list of tools', () => {
  const many = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`tool${i}`, echo]));

  test('is read to its last page', async () => {
    const server = serve({ tools: many, pageSize: 3 });
    const tools = await open(server.url).listTools(PATIENT);
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(many));
  });

  test('is empty for a server without tools', async () => {
    const server = serve({ tools: {} });
    expect(await open(server.url).listTools(PATIENT)).toEqual([]);
  });

  test('may not be longer than the limit', async () => {
    const server = serve({ tools: many, pageSize: 3 });
    const { code, message } = await failureOf(
      open(server.url, { limits: { maxTools: 6 } }).listTools(PATIENT),
    );
    expect([code, message]).toEqual(['mcp_too_large', 'MCP server "things" lists more than 6 tools']);
    expect(await open(server.url, { limits: { maxTools: 7 } }).listTools(PATIENT)).toHaveLength(7);
  });

  test('may not be more than a model can read', async () => {
    const page = (chars: number): object[] => [{ name: `tool${chars}`, description: 'x'.repeat(chars) }];
    const server = serve({
      tools: many,
      list: (cursor) => ({
        tools: page(cursor === undefined ? 600_000 : 500_000),
        nextCursor: cursor ? '' : 'b',
      }),
    });
    const { code, message } = await failureOf(open(server.url).listTools(PATIENT));
    expect([code, message]).toEqual(['mcp_too_large', 'MCP server "things" lists tools of more than 1 MiB']);
    const small = serve({ tools: many, list: () => ({ tools: page(1_000_000) }) });
    expect(await open(small.url).listTools(PATIENT)).toHaveLength(1);
  });

  test('has a maximum number of pages', async () => {
    const server = serve({ tools: many, list: (cursor = '') => ({ tools: [], nextCursor: `${cursor}x` }) });
    const { code } = await failureOf(open(server.url).listTools(PATIENT));
    expect(code).toBe('mcp_too_large');
  });

  test('is refused if a tool has no name, and accepts other irregularities', async () => {
    let tools: unknown[] = [
      { name: 'odd', inputSchema: 'what?', description: 7, annotations: [], icons: [] },
    ];
    const server = serve({ tools: many, list: () => ({ tools }) });
    const session = open(server.url);
    expect(await session.listTools(PATIENT)).toEqual([{ name: 'odd', inputSchema: { type: 'object' } }]);
    tools = [{ inputSchema: { type: 'object' } }];
    expect((await failureOf(session.listTools(PATIENT))).code).toBe('mcp_unavailable');
  });
});

describe('a result', () => {
  const resultOf = async (result: unknown, limits: SessionsSetup['limits'] = {}): ReturnType<typeof call> => {
    const server = serve({ tools: { give: { run: () => result } } });
    return call(open(server.url, { limits }));
  };
  const call = (session: McpSession): ReturnType<McpSession['callTool']> =>
    session.callTool('give', {}, PATIENT);

  test('keeps every kind of content', async () => {
    const image = { type: 'image', data: 'aW1n', mimeType: 'image/png' };
    const audio = { type: 'audio', data: 'YXVk', mimeType: 'audio/wav' };
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain' };
    const hologram = { type: 'hologram', depth: 3 };
    const halfImage = { type: 'image', data: 'aW1n' };
    const { parts } = await resultOf({
      content: [
        { type: 'text', text: 'hello', annotations: { audience: ['user'] } },
        image,
        audio,
        { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource', resource: { uri: 'file:///c', blob: 'YmxvYg==' } },
        { ...link, size: 7 },
        hologram,
        halfImage,
      ],
    });
    expect(parts as readonly unknown[]).toEqual([
      { type: 'text', text: 'hello' },
      image,
      audio,
      { type: 'resource', uri: 'file:///b', mimeType: 'text/plain', text: 'inside' },
      { type: 'resource', uri: 'file:///c', blob: 'YmxvYg==' },
      link,
      { type: 'text', text: JSON.stringify(hologram) },
      { type: 'text', text: JSON.stringify(halfImage) },
    ]);
  });

  test('can be structured in addition, or instead', async () => {
    const structured = { degrees: 21 };
    const content = [{ type: 'text', text: '21' }];
    expect(await resultOf({ content, structuredContent: structured })).toMatchObject({
      structured,
      parts: content,
    });
    expect(await resultOf({ structuredContent: [1, 2] })).toMatchObject({
      parts: [{ type: 'text', text: '[1,2]' }],
    });
    expect(await resultOf({})).toEqual({ parts: [], isError: false, truncated: false });
  });

  test('is truncated at the limit, never within a character', async () => {
    const text = `${'ü'.repeat(30)}🎉`;
    const give = (maxResultBytes: number): ReturnType<typeof call> =>
      resultOf(
        {
          content: [
            { type: 'text', text },
            { type: 'text', text: 'more' },
          ],
        },
        { maxResultBytes },
      );
    expect(await give(68)).toMatchObject({ truncated: false });
    expect(await give(67)).toMatchObject({ truncated: true, parts: [{ text }, { text: 'mor' }] });
    expect(await give(64)).toMatchObject({ truncated: true, parts: [{ text }] });
    expect(await give(63)).toMatchObject({
      truncated: true,
      parts: [{ text: 'ü'.repeat(30) }, { text: 'mor' }],
    });
    expect(await give(5)).toMatchObject({ truncated: true, parts: [{ text: 'üü' }, { text: 'm' }] });
  });

  test('leaves out structure beyond the limit', async () => {
    const structuredContent = { a: 'x'.repeat(100) };
    const limits = { maxResultBytes: 50 };
    const besides = await resultOf({ content: [{ type: 'text', text: 'short' }], structuredContent }, limits);
    expect(besides).toEqual({ parts: [{ type: 'text', text: 'short' }], isError: false, truncated: true });
    const alone = await resultOf({ content: [], structuredContent }, limits);
    expect(alone.parts).toEqual([{ type: 'text', text: JSON.stringify(structuredContent).slice(0, 50) }]);
  });

  test('of many megabytes is rejected', async () => {
    const text = 'x'.repeat(17 * 1_048_576);
    const { code } = await failureOf(resultOf({ content: [{ type: 'text', text }] }));
    expect(code).toBe('mcp_too_large');
  });
});

describe('a server that misbehaves', () => {
  test('ends its stream without an answer', async () => {
    const server = serve({
      tools: { echo },
      intercept: async (request) =>
        (await bodyOf(request)).method === 'tools/call'
          ? new Response(': nothing\n\n', { headers: { 'content-type': 'text/event-stream' } })
          : undefined,
    });
    const { code, message } = await failureOf(open(server.url).callTool('echo', {}, PATIENT));
    expect([code, message]).toEqual([
      'mcp_unavailable',
      'MCP server "things" ended its stream without a response',
    ]);
  });

  test('sends more requests than it accepts responses', async () => {
    const question = { jsonrpc: '2.0', method: 'elicitation/create', params: { message: 'a' } };
    const lines = Array.from(
      { length: 1000 },
      (_, id) => `data: ${JSON.stringify({ ...question, id: `q${id}` })}\n\n`,
    );
    let answers = 0;
    const server = serve({
      tools: { echo },
      async intercept(request) {
        const { method, id } = await bodyOf(request);
        if (method === 'tools/call')
          return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } });
        if (method !== undefined || !String(id).startsWith('q')) return undefined;
        answers++;
        return new Promise(() => {});
      },
    });
    const { code, message } = await failureOf(open(server.url).callTool('echo', {}, PATIENT));
    expect([code, message]).toEqual([
      'mcp_too_large',
      'MCP server "things" sent more than 32 requests at once',
    ]);
    expect(answers).toBeLessThanOrEqual(32);
  });

  test('loses every session', async () => {
    const server = serve({
      tools: { echo },
      intercept: async (request) =>
        (await bodyOf(request)).method === 'tools/call' ? new Response('gone', { status: 404 }) : undefined,
    });
    const { code, message } = await failureOf(open(server.url).callTool('echo', {}, PATIENT));
    expect([code, message]).toEqual(['mcp_session_lost', 'MCP server "things" lost its session']);
  });

  test('never answers the first message', async () => {
    const clock = new ArmedClock();
    const arrived = gate();
    const server = serve({
      tools: { echo },
      intercept() {
        arrived.pass();
        return new Promise(() => {});
      },
    });
    const call = failureOf(open(server.url, { clock }).callTool('echo', {}, PATIENT));
    await arrived.passed;
    clock.advance(20_000);
    expect((await call).code).toBe('mcp_timeout');
  });

  test('that was unreachable is contacted again at the next use', async () => {
    let isUp = false;
    const server = serve({
      tools: { echo },
      intercept: () => (isUp ? undefined : new Response('starting', { status: 503 })),
    });
    const session = open(server.url);
    const { message } = await failureOf(session.listTools(PATIENT));
    expect(message).toBe('MCP server "things" returned status 503: starting');
    isUp = true;
    expect(await session.listTools(PATIENT)).toHaveLength(1);
  });

  test.each([
    ['a page', new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } })],
    ['no JSON', new Response('{', { headers: { 'content-type': 'application/json' } })],
    ['other JSON', Response.json({ hello: 'world' })],
    ['an odd status', new Response('Payment!', { status: 402 })],
    ['nothing', new Response(null, { status: 204 })],
  ])('answers with %s', async (_, response) => {
    const server = serve({ tools: { echo }, intercept: () => response.clone() as Response });
    const { code, message } = await failureOf(open(server.url).callTool('echo', {}, PATIENT));
    expect(code).toBe('mcp_unavailable');
    expect(message.length).toBeLessThan(500);
  });

  test('is unreachable', async () => {
    const server = serve({ tools: { echo } });
    await server.stop();
    const { code, message } = await failureOf(open(server.url).callTool('echo', {}, PATIENT));
    expect([code, message]).toEqual([
      'mcp_unavailable',
      'MCP server "things" cannot be reached. This URL could not be fetched: no connection could be made.',
    ]);
  });
});

test.each([
  ['application/json', (json: string) => json],
  ['text/event-stream', (json: string) => `: "\nevent: message\ndata: ${json}\n\n`],
  ['text/event-stream', (json: string) => `: "\r\ndata:${json.replaceAll(',', ',\r\ndata:')}\r\n\r\n`],
] as const)('an endlessly nested list is stopped while it arrives: %s', async (type, write) => {
  const answer = (id: number | undefined, levels: number): string => {
    const inputSchema = `{"type":"object","not":"]]","default":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    return `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"a","inputSchema":${inputSchema}}]}}`;
  };
  let levels = 200_000;
  const server = serve({
    tools: { echo },
    intercept: async (request) => {
      const { method, id } = await bodyOf(request);
      if (method !== 'tools/list') return undefined;
      return new Response(write(answer(id, levels)), { headers: { 'content-type': type } });
    },
  });
  const session = open(server.url);
  const failure = await failureOf(session.listTools(PATIENT));
  expect(failure.code).toBe('mcp_too_large');
  expect(failure.message).toContain('nested more than 256 levels deep');
  levels = 200;
  const [tool] = await session.listTools(PATIENT);
  expect(tool?.name).toBe('a');
});
