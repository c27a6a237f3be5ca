// Traces as a collector gets them, and as upstreams hear of them.
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createLogger } from '../../../src/base/telemetry/log.ts';
import { traceOf } from '../../../src/base/telemetry/trace-context.ts';
import { TraceExporter } from '../../../src/operations/traces/index.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { finishedRequest } from '../../support/finished-request.ts';
import { attributeOf, collectTraces, type TraceCollector } from './trace-collector.ts';
import { startWeb } from '../../support/upstreams/tool-scene.ts';
import { undoAfterEach } from '../../support/undo.ts';

const undo = undoAfterEach();

/** The trace of a client. */
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

interface Scene {
  readonly gateway: TestGateway;
  readonly collector: TraceCollector;
  /** Headers of requests that came to the upstream of `mine/model`. */
  readonly asked: Headers[];
  /** Asks for one answer. @returns the id of the generation */
  ask(model?: string, headers?: Record<string, string>): Promise<string>;
  /** Ends the gateway, which sends what it has. */
  end(): Promise<void>;
}

async function scene(otlp: object | null = {}, config: object = {}): Promise<Scene> {
  const collector = collectTraces();
  undo.push(() => collector.stop());
  const asked: Headers[] = [];
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(request.headers);
      return Response.json({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      });
    },
  });
  undo.push(() => upstream.stop(true));
  const gateway = await startGateway({
    providers: {
      mine: { protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` }, api_key: 'sk-upstream' },
    },
    models: [
      { id: 'mine/model', endpoints: [{ provider: 'mine', model: 'm' }] },
      {
        id: 'mine/second',
        endpoints: [
          { provider: 'sim', model: 'error-503' },
          { provider: 'mine', model: 'm' },
        ],
      },
    ],
    telemetry: otlp === null ? {} : { otlp: { endpoint: `${collector.url}/`, ...otlp } },
    routing: { retries: 0 },
    ...config,
  });
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => (ended ??= gateway.close());
  undo.push(end);
  return {
    gateway,
    collector,
    asked,
    async ask(model = 'mine/model', headers = {}) {
      const body = { model, messages: [{ role: 'user', content: 'a secret question' }] };
      const answer = await gateway.post('/chat/completions', body, headers);
      await answer.text();
      return answer.headers.get('x-request-id') ?? '';
    },
    end,
  };
}

test('a request and each of its attempts are spans, and the upstream gets the id of its own', async () => {
  const { ask, end, collector, asked } = await scene({
    headers: { 'x-collector-key': 'k-1' },
    service_name: 'edge',
  });
  const id = await ask('mine/second');
  await end();
  const [request, failed, answered] = collector.spans();
  expect(collector.spans()).toHaveLength(3);
  expect(collector.headers[0]?.get('x-collector-key')).toBe('k-1');
  expect(collector.bodies[0]).toContain('{"key":"service.name","value":{"stringValue":"edge"}}');
  expect([request?.name, request?.kind, request?.traceId, request?.parentSpanId]).toEqual([
    'chat mine/second',
    2,
    id,
    undefined,
  ]);
  expect([failed?.name, failed?.kind, failed?.status?.code]).toEqual(['chat error-503', 3, 2]);
  expect([answered?.name, answered?.parentSpanId, answered?.status]).toEqual([
    'chat m',
    request?.spanId,
    undefined,
  ]);
  expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(3);
  expect(asked[0]?.get('traceparent')).toBe(`00-${id}-${answered?.spanId}-01`);
  const attributes = (key: string): unknown[] => collector.spans().map((span) => attributeOf(span, key));
  expect(attributes('gen_ai.operation.name')).toEqual(['chat', 'chat', 'chat']);
  expect(attributes('gen_ai.provider.name')).toEqual(['mine', 'sim', 'mine']);
  expect(attributes('gen_ai.usage.input_tokens')).toEqual(['7', undefined, '7']);
  expect(attributes('error.type')).toEqual([undefined, 'upstream_unavailable', undefined]);
  expect(attributes('http.response.status_code')).toEqual(['200', '503', '200']);
  expect(attributes('gen_ai.response.id')).toEqual([id, undefined, 'chatcmpl-1']);
});

test('neither prompts nor answers nor texts of errors are in spans', async () => {
  const { ask, end, collector } = await scene();
  await ask('mine/second');
  await ask('no/such-model');
  await end();
  const all = collector.bodies.join('');
  expect(all).toContain('no/such-model');
  for (const word of ['a secret question', 'hello', 'overloaded', 'does not exist'])
    expect(all).not.toContain(word);
});

test('a client that has a trace finds its request there, with its state, and so does the upstream', async () => {
  const { ask, end, collector, asked } = await scene();
  await ask('mine/model', { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' });
  await end();
  const [request, answered] = collector.spans();
  expect([request?.traceId, request?.parentSpanId, request?.traceState]).toEqual([TRACE, PARENT, 'vendor=1']);
  expect(asked[0]?.get('traceparent')).toBe(`00-${TRACE}-${answered?.spanId}-01`);
  expect(asked[0]?.get('tracestate')).toBe('vendor=1');
});

test('work that continues after a request has its own traces, each linked to the span of the client', async () => {
  const { gateway, end, collector } = await scene({}, { batches: { max_delay_ms: 0 } });
  const traced = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' };
  const body = { model: 'mine/model', messages: [{ role: 'user', content: 'Hello' }] };
  const queued = await gateway.post('/chat/completions', body, { ...traced, prefer: 'respond-async' });
  expect(queued.status).toBe(202);
  const line = (custom_id: string) =>
    JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body });
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new File([`${line('a')}\n${line('b')}`], 'in.jsonl'));
  const headers = { authorization: `Bearer ${gateway.key}` };
  const file = await fetch(`${gateway.baseURL}/files`, { method: 'POST', headers, body: form });
  const { id } = (await file.json()) as { id: string };
  const batch = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  expect((await gateway.post('/batches', batch, traced)).status).toBe(200);
  await eventually(
    'all are answered',
    async () => {
      const all = await fetch(`${gateway.baseURL}/batches`, { headers });
      const { data } = (await all.json()) as { data: { status: string }[] };
      const made = await fetch(
        `${gateway.baseURL}/generations/${queued.headers.get('x-request-id')}/result`,
        {
          headers,
        },
      );
      return data[0]?.status === 'completed' && made.status === 200;
    },
    60_000,
  );
  await end();
  const requests = collector.spans().filter(({ kind }) => kind === 2);
  expect(requests).toHaveLength(3);
  for (const { traceId, parentSpanId, links } of requests) {
    expect([traceId === TRACE, parentSpanId]).toEqual([false, undefined]);
    expect(links).toEqual([{ traceId: TRACE, spanId: PARENT, traceState: 'vendor=1', flags: 1 }]);
  }
  expect(new Set(requests.map(({ traceId }) => traceId)).size).toBe(3);
});

test('a client that does not sample has no spans stored, and its trace continues', async () => {
  const { ask, end, collector, asked } = await scene();
  await ask('mine/model', { traceparent: `00-${TRACE}-${PARENT}-00` });
  await end();
  expect(collector.bodies).toEqual([]);
  expect(asked[0]?.get('traceparent')).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
});

test('with a sample rate of zero, only traces of clients are stored', async () => {
  const { ask, end, collector } = await scene({ sample: 0 });
  await ask();
  await ask('mine/model', { traceparent: `00-${TRACE}-${PARENT}-01` });
  await end();
  expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});

test('without a collector, upstreams get no trace headers', async () => {
  const { ask, asked } = await scene(null);
  await ask('mine/model', { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' });
  expect([asked[0]?.get('traceparent'), asked[0]?.get('tracestate')]).toEqual([null, null]);
});

test('a call of a hosted tool has its own span', async () => {
  const web = startWeb();
  undo.push(() => web.stop());
  const { gateway, end, collector } = await scene(
    {},
    { tools: { web_search: { backend: 'searxng', url: web.origin, native: 'never' } } },
  );
  const input = 'Which is it?\ncall web_search {"query": "longest river"}';
  const answer = await gateway.post('/responses', {
    model: 'sim/chat',
    input,
    tools: [{ type: 'web_search' }],
  });
  expect(answer.status).toBe(200);
  await answer.text();
  await end();
  const spans = collector.spans();
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['chat sim/chat', 2],
    ['chat chat', 3],
    ['chat chat', 3],
    ['execute_tool web_search', 1],
  ]);
  expect(spans[3]?.parentSpanId).toBe(spans[0]?.spanId ?? '');
  expect(attributeOf(spans[3], 'gen_ai.tool.name')).toBe('web_search');
  expect(collector.bodies.join('')).not.toContain('longest river');
});

describe('traceparent', () => {
  const ID = '019234567890abcdef0123456789abcd';
  const read = (traceparent: string | null): string | null =>
    traceOf((name) => (name === 'traceparent' ? traceparent : null), ID, 1).parentId;

  test.each([
    null,
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-1`,
    ` 00-${TRACE}-${PARENT}-01`,
  ])('%p is ignored', (text) => {
    expect(read(text)).toBeNull();
  });

  test('of a later version is read as far as its format is known', () => {
    expect(read(`cc-${TRACE}-${PARENT}-01-what-comes-later`)).toBe(PARENT);
  });

  test('is kept in the share that is configured', () => {
    const ids = Array.from({ length: 4000 }, (_, at) => (((at + 0.5) / 4000) * 2 ** 32) >>> 0);
    const kept = ids.filter((random) => {
      const id = `${'1'.repeat(24)}${random.toString(16).padStart(8, '0')}`;
      return traceOf(() => null, id, 0.25).isSampled;
    });
    expect(kept.length).toBe(1000);
  });
});

test('a collector that does not respond costs bounded memory, and is logged once a minute', async () => {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = createLogger({ level: 'warn', now: clock.now, write: (line) => warnings.push(line) });
  const waiting: { resolve: (status: number) => void; body: string }[] = [];
  const exporter = new TraceExporter({
    collector: () => ({ url: 'http://collector/v1/traces', headers: {}, serviceName: 'x' }),
    fetch: {
      fetchWhole: ({ body = '' }) =>
        new Promise((resolve) =>
          waiting.push({
            body,
            resolve: (status) => resolve({ status, header: () => null, url: '', bytes: Buffer.alloc(0) }),
          }),
        ),
    },
    clock,
    log,
  });
  const trace = { traceId: TRACE, parentId: null, isSampled: true, state: null };
  const settle = (count: number): void => {
    for (let at = 0; at < count; at++) exporter.finished({ ...finishedRequest(), trace });
  };
  settle(5);
  clock.advance(1000);
  expect(waiting).toHaveLength(1);
  settle(5000);
  expect([exporter.exported, exporter.dropped, warnings.length]).toEqual([0, 3000, 1]);
  clock.advance(61_000);
  settle(1);
  expect(warnings[1]).toContain('"dropped_requests":3001');
  waiting[0]?.resolve(200);
  await eventually('the next batch is sent', () => waiting.length === 2);
  expect(exporter.exported).toBe(5);
  expect(JSON.parse(waiting[1]!.body).resourceSpans[0].scopeSpans[0].spans).toHaveLength(200);
  waiting[1]?.resolve(400);
  await eventually('another one is', () => waiting.length === 3);
  expect([exporter.exported, exporter.dropped]).toEqual([5, 3101]);
  waiting[2]?.resolve(503);
  await eventually('it is sent again later', () => {
    clock.advance(1000);
    return waiting.length === 4;
  });
  expect(waiting[3]?.body).toBe(waiting[2]!.body);
});

test('spans are queued for minutes while the collector is unreachable, and all of them arrive later', async () => {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = createLogger({ level: 'warn', now: clock.now, write: (line) => warnings.push(line) });
  let isAway = true;
  const triesAt: number[] = [];
  const bodies: string[] = [];
  const exporter = new TraceExporter({
    collector: () => ({ url: 'http://collector/v1/traces', headers: {}, serviceName: 'x' }),
    fetch: {
      fetchWhole: ({ body = '' }) => {
        triesAt.push(clock.now());
        if (isAway) return Promise.reject(new Error('connect ECONNREFUSED'));
        bodies.push(body);
        return Promise.resolve({ status: 200, header: () => null, url: '', bytes: Buffer.alloc(0) });
      },
    },
    clock,
    log,
  });
  const trace = { traceId: TRACE, parentId: null, isSampled: true, state: null };
  const from = clock.now();
  for (let second = 0; second < 500; second += 1) {
    if (second < 480) for (let at = 0; at < 4; at += 1) exporter.finished({ ...finishedRequest(), trace });
    clock.advance(1000);
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  }
  expect([exporter.exported, exporter.dropped]).toEqual([0, 0]);
  // Seldom, and never longer apart than half a minute.
  const pauses = triesAt.slice(1).map((at, n) => at - triesAt[n]!);
  expect(pauses.slice(0, 6)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
  expect(Math.max(...pauses)).toBe(30_000);
  expect(warnings.length).toBeLessThanOrEqual(1 + (clock.now() - from) / 60_000);
  expect(warnings[0]).toContain('spans are queued');
  isAway = false;
  clock.advance(30_000);
  await eventually('all of it arrives', () => exporter.exported === 1920);
  expect(exporter.dropped).toBe(0);
  expect(bodies.length).toBeGreaterThanOrEqual(20);
});

test('a message that cannot be delivered is discarded after ten minutes, and the next one is sent', async () => {
  const clock = new ManualClock();
  const log = createLogger({ level: 'error', now: clock.now, write: () => {} });
  const exporter = new TraceExporter({
    collector: () => ({ url: 'http://collector/v1/traces', headers: {}, serviceName: 'x' }),
    fetch: {
      fetchWhole: ({ body = '' }) => {
        const status = body.includes(TRACE) ? 503 : 200;
        return Promise.resolve({ status, header: () => null, url: '', bytes: Buffer.alloc(0) });
      },
    },
    clock,
    log,
  });
  const trace = { traceId: TRACE, parentId: null, isSampled: true, state: null };
  exporter.finished({ ...finishedRequest(), trace });
  clock.advance(1000);
  exporter.finished({ ...finishedRequest(), trace: { ...trace, traceId: 'f'.repeat(32) } });
  for (let seconds = 0; seconds < 630; seconds += 1) {
    clock.advance(1000);
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  }
  expect([exporter.exported, exporter.dropped]).toEqual([1, 1]);
});

const python = process.env['DRAGOMAN_PYTHON'];
const hasProto =
  python !== undefined &&
  Bun.spawnSync([python, '-c', 'import opentelemetry.proto, google.protobuf.json_format']).success;

test.skipIf(!hasProto)(
  `the official protobuf definitions read all of it${hasProto ? '' : ' (set DRAGOMAN_PYTHON to an interpreter that can import opentelemetry.proto)'}`,
  async () => {
    const { ask, end, collector } = await scene();
    const id = await ask('mine/second', { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' });
    await end();
    const reader = Bun.spawn([python ?? '', join(import.meta.dir, 'read_otlp.py')], {
      stdin: new Blob(collector.bodies.slice(0, 1)),
    });
    const spans = (await new Response(reader.stdout).json()) as readonly Record<string, unknown>[];
    expect(await reader.exited).toBe(0);
    expect(spans.map(({ name, kind, trace, parent, status }) => [name, kind, trace, parent, status])).toEqual(
      [
        ['chat mine/second', 2, TRACE, PARENT, 0],
        ['chat error-503', 3, TRACE, spans[0]?.['id'], 2],
        ['chat m', 3, TRACE, spans[0]?.['id'], 0],
      ],
    );
    expect(spans[0]?.['attributes']).toMatchObject({
      'gen_ai.response.id': 'string_value',
      'gen_ai.response.finish_reasons': 'array_value',
      'gen_ai.usage.input_tokens': 'int_value',
      'gen_ai.request.stream': 'bool_value',
    });
    expect(collector.bodies[0]).toContain(id);
  },
);
