// `catalog.refresh`: newer prices from an address or a file are put in force as one, kept for the next start, and named in
// records; broken ones are refused and told.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually, runProgram } from '../../support/program.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const MINUTE = 60_000;
/** How often a source is looked at here: a clock of tests ticks often. */
const EVERY = 6 * MINUTE;
const model = (id: string, input: number | null, more: object = {}): object => ({
  id,
  match: { equals: id },
  prices: { input_mtok: input, output_mtok: 10 },
  ...more,
});
const data = (...models: object[]): object[] => [{ id: 'openai', models }];

let folder: string;
let clock: ManualClock;
const running: TestGateway[] = [];
const source = await startUpstream();
const vendor = await startUpstream();
vendor.always(whole(chatBody('Hello')));
afterAll(() => Promise.all([source.stop(), vendor.stop()]));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-refresh-'));
  clock = new ManualClock(Date.parse('2026-11-22T12:00:00Z'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(refresh: string): Promise<TestGateway> {
  const gateway = await startGateway(
    {
      catalog: { refresh, every_hours: 0.1 },
      logging: { level: 'info' },
      routing: { retries: 0, timeouts: { first_token_ms: 600_000, response_ms: 600_000, idle_ms: 600_000 } },
      providers: { openai: { api_key: 'sk-upstream', base_url: `${vendor.origin}/v1` } },
    },
    { clock, dataDir: join(folder, 'data') },
  );
  running.push(gateway);
  return gateway;
}

async function halt(gateway: TestGateway): Promise<void> {
  running.splice(running.indexOf(gateway), 1);
  await gateway.stop();
}

async function ask(gateway: TestGateway, name: string): Promise<unknown> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await gateway.post('/chat/completions', { model: name, messages });
  expect(response.status).toBe(200);
  await response.text();
  return at(await recordOf(gateway, response), 'cost', 'price');
}

const logged = (gateway: TestGateway, words: string, times = 1): Promise<void> =>
  eventually(words, () => gateway.logLines.filter((line) => line.includes(words)).length >= times);
const IN_FORCE = 'new prices and models are in use';
const REFUSED = 'new prices and models were rejected';

test('an address, which may be private, is read at the start and then now and then', async () => {
  source.always(whole(data(model('tomorrow-1', 3), model('gpt-4o', 7))));
  const gateway = await start(`${source.origin}/prices?token=sk-test-source`);
  await logged(gateway, IN_FORCE);
  expect(source.requests[0]).toMatchObject({ method: 'GET', path: '/prices?token=sk-test-source' });

  const price = await ask(gateway, 'openai/tomorrow-1');
  expect(price).toMatchObject({ input: 3, output: 10 });
  expect(at(price, 'source')).toMatch(/^catalog 2026-11-22 [\da-f]{12}$/);
  const listed = list(await (await gateway.get('/models')).json(), 'data').map((each) => at(each, 'id'));
  expect(listed).toContain('openai/tomorrow-1');
  // A price that the address does not know stays, with its source.
  expect(await ask(gateway, 'openai/gpt-4.1')).toMatchObject({
    source: expect.stringContaining('genai-prices'),
    kept: true,
  });

  source.always(whole(data(model('tomorrow-1', 0), model('gpt-4o', null))));
  clock.advance(EVERY - MINUTE);
  expect(source.requests).toHaveLength(0);
  clock.advance(MINUTE);
  await logged(gateway, IN_FORCE, 2);
  const later = await ask(gateway, 'openai/tomorrow-1');
  expect(later).toMatchObject({ input: 3, output: 10, kept: true });
  expect(at(later, 'source')).toMatch(
    /^catalog 2026-11-22 [\da-f]{12}; kept: input_mtok of catalog 2026-11-22 [\da-f]{12}$/,
  );
  expect(await ask(gateway, 'openai/gpt-4o')).toMatchObject({ input: 7, kept: true });
  expect(gateway.logLines.join('')).not.toContain('sk-test-source');
});

test('a request that runs keeps the prices under which it was admitted', async () => {
  const file = join(folder, 'prices.json');
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 7))));
  const gateway = await start(file);
  await logged(gateway, IN_FORCE);
  vendor.script(() => {});
  const messages = [{ role: 'user', content: 'Hi' }];
  const asked = gateway.post('/chat/completions', { model: 'openai/gpt-4o', messages });
  const held = await vendor.arrived(1);
  vendor.always(whole(chatBody('Hello')));
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 80))));
  clock.advance(MINUTE);
  await logged(gateway, IN_FORCE, 2);
  expect(await ask(gateway, 'openai/gpt-4o')).toMatchObject({ input: 80 });
  whole(chatBody('Hello'))(held);
  const response = await asked;
  expect(response.status).toBe(200);
  await response.text();
  expect(at(await recordOf(gateway, response), 'cost', 'price', 'input')).toBe(7);
});

test('a file is read again when it changes, and its data is available at the next start', async () => {
  const file = join(folder, 'prices.json');
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 7))));
  const first = await start(file);
  await logged(first, IN_FORCE);
  expect(await ask(first, 'openai/gpt-4o')).toMatchObject({ input: 7 });

  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 70), model('new', 1))));
  clock.advance(MINUTE);
  await logged(first, IN_FORCE, 2);
  const price = await ask(first, 'openai/gpt-4o');
  expect(price).toMatchObject({ input: 70 });
  const kept = join(folder, 'data', 'catalog.json');
  await eventually(
    'kept',
    () =>
      existsSync(kept) &&
      readFileSync(kept, 'utf8').includes(String(at(price, 'source')).split(';')[0] ?? ''),
  );
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  await halt(first);

  rmSync(file);
  const second = await start(file);
  await logged(second, REFUSED);
  expect(await ask(second, 'openai/gpt-4o')).toEqual(price);
  await halt(second);

  // The other source was not asked for the prices of the first.
  const third = await start(join(folder, 'other.json'));
  expect(await ask(third, 'openai/gpt-4o')).not.toMatchObject({ input: 70 });
});

test('a damaged stored file is reported, and the bundled data is used', async () => {
  const file = join(folder, 'prices.json');
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 7))));
  const first = await start(file);
  await logged(first, IN_FORCE);
  await eventually(
    'kept',
    () => statSync(join(folder, 'data', 'catalog.json'), { throwIfNoEntry: false }) !== undefined,
  );
  await halt(first);
  const kept = join(folder, 'data', 'catalog.json');
  writeFileSync(kept, readFileSync(kept, 'utf8').replace('"input_mtok":7', '"input_mtok":0'));
  const second = await start(file);
  await logged(second, 'catalog.json: it is damaged');
  await logged(second, IN_FORCE);
});

describe('broken data is refused and reported, and the known data stays', () => {
  test.each([
    ['no JSON', whole('<html>'), 'is no JSON'],
    ['a status', whole({}, 503), 'status 503'],
    ['a wrong price', whole(data(model('gpt-4o', -1))), 'prices'],
    ['no answer', (exchange: { cut(): void }) => exchange.cut(), 'failed'],
    ['more than it may hold', whole('['.padEnd(17 * 1_048_576)), 'more than'],
  ] as const)('%s', async (_, answer, words) => {
    source.always(whole(data(model('gpt-4o', 7))));
    const gateway = await start(`${source.origin}/prices`);
    await logged(gateway, IN_FORCE);
    source.always(answer as Parameters<typeof source.always>[0]);
    clock.advance(EVERY);
    await logged(gateway, REFUSED);
    expect(gateway.logLines.find((line) => line.includes(REFUSED))).toContain(words);
    expect(await ask(gateway, 'openai/gpt-4o')).toMatchObject({ input: 7 });
    source.always(whole(data(model('gpt-4o', 6))));
    clock.advance(EVERY);
    await logged(gateway, IN_FORCE, 2);
    expect(await ask(gateway, 'openai/gpt-4o')).toMatchObject({ input: 6 });
  });
});

test('`models --diff` shows what would change, and changes nothing', async () => {
  const more = { prices: { input_mtok: 2.5, cache_read_mtok: 1.25, output_mtok: 12 } };
  source.always(whole(data(model('tomorrow-1', 3), model('gpt-4o', null, more))));
  const config = join(folder, 'dragoman.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      catalog: { refresh: `${source.origin}/prices` },
      providers: { openai: { api_key: 'sk-upstream' } },
      data_dir: join(folder, 'data'),
    }),
  );
  const { code, out } = await runProgram(['models', '--diff', '--json', '--config', config], { folder });
  expect(code).toBe(0);
  const changes = JSON.parse(out) as { model: string; change: string }[];
  const of = (id: string): object[] => changes.filter((each) => each.model === id);
  expect(of('openai/tomorrow-1')).toEqual([
    { model: 'openai/tomorrow-1', change: 'new', before: null, after: 'input 3, output 10' },
  ]);
  expect(of('openai/gpt-4o')).toEqual([
    expect.objectContaining({ change: 'price kept' }),
    expect.objectContaining({
      change: 'price up',
      before: expect.stringContaining('output 10'),
      after: expect.stringContaining('output 12'),
    }),
  ]);
  expect(of('openai/gpt-4.1')).toEqual([expect.objectContaining({ change: 'gone' })]);
  expect(statSync(join(folder, 'data', 'catalog.json'), { throwIfNoEntry: false })).toBeUndefined();

  source.always(whole('nothing'));
  const broken = await runProgram(['models', '--diff', '--config', config], { folder });
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining('is no JSON') });
});

test('`check` reports a file that cannot be used', async () => {
  const config = join(folder, 'dragoman.yaml');
  const file = join(folder, 'prices.json');
  writeFileSync(config, JSON.stringify({ catalog: { refresh: file }, data_dir: join(folder, 'data') }));
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', 7))));
  expect((await runProgram(['check', '--config', config], { folder })).code).toBe(0);
  writeFileSync(file, JSON.stringify(data(model('gpt-4o', -7))));
  const { code, out } = await runProgram(['check', '--config', config], { folder });
  expect(out).toContain(`cannot use ${file}: [0].models[0].prices`);
  expect(code).toBe(1);
});
