// A gateway that is looked at: seven providers of which some fail in ways of their own, keys with and without budgets, a month
// of records behind it, and requests that have just been made. For the pictures, and for what pages must say truthfully.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleRecord } from '../../bench/sample-records.ts';
import type { ErrorKind } from '../../src/canonical/index.ts';
import { newGenerationId } from '../../src/base/runtime/ids.ts';
import type { Storage } from '../../src/accounts/ports/index.ts';
import { openPostgresStorage } from '../../src/storage/postgres/storage.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { PATIENT } from '../support/servers/postgres.ts';
import { type ConsoleScene, startConsole } from './scene.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS = 30;

export const PAPERS = 'sk-test-papers-0123456789';
export const SPENT = 'sk-test-spent-0123456789';
/** Secret of gateways with PostgreSQL. */
const SECRET = 'cd'.repeat(32);

/** How each upstream behaves, by the first part of its path. */
const BEHAVIOURS: Readonly<Record<string, (request: Request) => Promise<Response> | Response>> = {
  good: (request) => answered(request, 5),
  slow: (request) => answered(request, 120),
  overloaded: () => refusal(503, 'The model is overloaded. Try again later.', 'overloaded_error'),
  unauthorized: () =>
    refusal(401, 'Incorrect API key provided: sk-old. It was revoked.', 'invalid_request_error'),
  limited: (request) => {
    limited += 1;
    return limited % 5 < 3
      ? refusal(429, 'Rate limit reached for requests.', 'rate_limit_error')
      : answered(request, 20);
  },
  unpaid: () => refusal(402, 'Your credit balance is too low.', 'insufficient_quota'),
  cut: () => cutStream(),
};
let limited = 0;

function refusal(status: number, message: string, type: string): Response {
  return Response.json({ error: { message, type, code: null } }, { status });
}

const USAGE = { prompt_tokens: 43, completion_tokens: 18, total_tokens: 61 };

async function answered(request: Request, ms: number): Promise<Response> {
  const body = (await request.json()) as { stream?: boolean; model: string; seed?: number };
  const common = { id: 'chatcmpl-1', created: 1, model: body.model };
  const text = 'Paris is mild today: 14 degrees, with some clouds.';
  // A `seed` says how slow the answer is, in milliseconds.
  await Bun.sleep(body.seed ?? ms);
  if (body.stream !== true)
    return Response.json({
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: USAGE,
    });
  const chunk = (delta: object, more: object = {}): string =>
    `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
  const end = `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE })}\n\ndata: [DONE]\n\n`;
  return stream(async (write) => {
    for (const word of text.split(' ')) {
      write(chunk({ content: `${word} ` }));
      await Bun.sleep(1);
    }
    write(end);
  });
}

function stream(fill: (write: (text: string) => void) => Promise<void>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      await fill((text) => controller.enqueue(encoder.encode(text)));
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Some words, and no end. */
function cutStream(): Response {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return stream(async (write) => {
    for (const word of ['Once ', 'upon ', 'a ', 'time '])
      write(
        `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: { content: word }, finish_reason: null }] })}\n\n`,
      );
  });
}

const PRICE = { input: 0.4, output: 1.6 };

interface Busy extends ConsoleScene {
  /** Asks a model with a key; resolves when the answer has ended, however. @returns its status and the id of its record */
  ask(model: string, key?: string, more?: object): Promise<{ readonly status: number; readonly id: string }>;
}

/** Host at which nobody is. */
export const NOBODY = '127.0.0.1:9';

interface BusyOptions {
  /** Records of the month before; 0: none. */
  readonly records?: number;
  /** An empty PostgreSQL database for everything; absent: SQLite. */
  readonly databaseUrl?: string;
}

export async function startBusyGateway({ records = 6_000, databaseUrl }: BusyOptions = {}): Promise<Busy> {
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const behaviour = BEHAVIOURS[new URL(request.url).pathname.split('/')[1] ?? ''];
      return behaviour?.(request) ?? refusal(404, 'no such page', 'not_found');
    },
  });
  const provider = (behaviour: string, key = 'sk-test-of-the-provider'): object => ({
    api_key: key,
    protocols: { 'openai-chat': { base_url: `${upstream.url.origin}/${behaviour}/v1` } },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-busy-'));
  if (records > 0) {
    const later = (): void => {};
    const storage = databaseUrl
      ? await openPostgresStorage({
          url: databaseUrl,
          secrets: [Buffer.from(SECRET, 'hex')],
          later,
          ...PATIENT,
        })
      : await openSqliteStorage({ path: join(dataDir, 'dragoman.db'), later });
    await fill(storage, records);
  }
  const scene = await startConsole(
    {
      ...(databaseUrl && { database_url: databaseUrl, secret: SECRET }),
      logging: { level: 'silent', content: 'all' },
      // The page of webhooks has one at which nobody is.
      fetch: { allow: [NOBODY] },
      batches: { max_delay_ms: 0 },
      // Endpoints that fail stay unavailable while pages are looked at, however slow the machine is.
      routing: { breaker: { open_ms: 600_000 } },
      keys: [
        { name: 'test', key: 'sk-test' },
        { name: 'papers', key: PAPERS, project: 'research', budgets: [{ usd: 20, per: 'month' }] },
        { name: 'query-rewrite', key: SPENT, project: 'search', budgets: [{ usd: 0.00009, per: 'day' }] },
      ],
      projects: { research: { budgets: [{ usd: 100, per: 'month' }] }, search: {} },
      providers: {
        'acme-cloud': provider('good'),
        cheapllm: provider('limited'),
        downtown: provider('overloaded'),
        'expired-key': provider('unauthorized', 'sk-old'),
        'in-house-vllm': provider('slow'),
        'prepaid-ai': provider('unpaid'),
        'shaky-gpu': provider('cut'),
      },
      models: [
        model('acme/small', [
          ['cheapllm', PRICE],
          ['acme-cloud', PRICE],
        ]),
        model('acme/large', [
          ['downtown', PRICE],
          ['acme-cloud', { input: 2.5, output: 10 }],
        ]),
        model('downtown/only', [['downtown', PRICE]]),
        model('expired/one', [['expired-key', PRICE]]),
        model('house/qwen', [['in-house-vllm', null]]),
        model('prepaid/one', [['prepaid-ai', PRICE]]),
        model('shaky/one', [['shaky-gpu', PRICE]]),
      ],
    },
    { dataDir },
  );
  return {
    ...scene,
    async ask(name, key = 'sk-test', more = {}) {
      const answer = await scene.gateway.post(
        '/chat/completions',
        {
          model: name,
          messages: [
            { role: 'system', content: 'You are a helpful assistant.' },
            { role: 'user', content: 'What is the weather in Paris?' },
          ],
          ...more,
        },
        { authorization: `Bearer ${key}` },
      );
      await answer.text().catch(() => '');
      return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' };
    },
    async close() {
      await scene.close();
      await upstream.stop(true);
    },
  };
}

function model(id: string, endpoints: readonly (readonly [string, object | null])[]): object {
  return {
    id,
    endpoints: endpoints.map(([provider, price]) => ({ provider, model: 'm', ...(price && { price }) })),
  };
}

/** Requests of every kind, as they come in a bad quarter of an hour. */
export async function makeTraffic({ ask }: Pick<Busy, 'ask'>, rounds = 8): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    await Promise.all([
      ask('acme/small', PAPERS, { stream: true }),
      ask('acme/small', PAPERS),
      ask('acme/large', 'sk-test', { stream: true }),
      ask('downtown/only', PAPERS),
      ask('expired/one'),
      ask('house/qwen', PAPERS, { stream: true }),
      ask('prepaid/one'),
      ask('shaky/one', 'sk-test', { stream: true }),
      // Estimated at less than it costs: two of them use the budget up.
      ask('acme/small', SPENT, { max_tokens: 1 }),
      ask('acme/none-such'),
      ask('acme/small', 'sk-test', { stream: true, temperature: 'hot' }),
    ]);
}

const MODELS: readonly (readonly [provider: string, model: string])[] = [
  ['acme-cloud', 'acme/small'],
  ['acme-cloud', 'acme/large'],
  ['cheapllm', 'acme/small'],
  ['in-house-vllm', 'house/qwen'],
  ['downtown', 'acme/large'],
];

/** Busier by day than by night, and some of everything fails. Closes the storage. */
async function fill(storage: Storage, records: number): Promise<void> {
  const end = Date.now() - 20 * MINUTE_MS;
  for (let number = 0; number < records; number += 1) {
    const day = end - ((number % DAYS) + 1) * DAY_MS;
    const part = (number * 0.618_034) % 1;
    const createdAt = Math.floor(day + (part - Math.sin(2 * Math.PI * part) / 9) * DAY_MS);
    const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
    const [provider = '', name = ''] = MODELS[Math.floor(number / 7) % MODELS.length] ?? [];
    const isUnpriced = name === 'house/qwen';
    const kind: ErrorKind | null =
      number % 61 === 0 ? 'upstream_unavailable' : number % 97 === 0 ? 'rate_limited' : null;
    const status = kind === null ? 200 : kind === 'rate_limited' ? 429 : 503;
    const error = kind && { kind, message: 'It did not answer.', upstreamStatus: status };
    const shared = {
      model: name,
      provider,
      endpoint: provider,
      error,
      usage: error ? null : generation.usage,
      cost: error ? null : isUnpriced ? { usd: null, items: {}, price: null } : generation.cost,
    };
    storage.ledger.append(
      { ...generation, ...shared, requestedModel: name, status, finishReason: error ? null : 'stop' },
      attempts.map((attempt) => ({
        ...attempt,
        ...shared,
        model: 'm',
        status,
        outcome: error ? ('failed' as const) : ('completed' as const),
      })),
    );
    if (number % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  while (await storage.usage.maintain(end));
  await storage.close();
}
