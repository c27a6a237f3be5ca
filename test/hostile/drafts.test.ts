// Drafts of a configuration as an attack: whoever may only manage must not read what the gateway's user can read, and
// must not stop the gateway. Each draft is checked in a process of its own, which takes half a second: `npm test` sends fewer.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'bun:test';
import { buildSnapshot, ConfigError, loadConfig } from '../../src/app/config/index.ts';
import { presets } from '../../src/catalog/providers/index.ts';
import { startManaged } from '../support/management/scene.ts';
import { shareOf } from '../support/share.ts';

const SECRET = 'a-secret-of-the-machine/and-more';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-drafts-'));
mkdirSync(join(folder, 'credentials'));
writeFileSync(join(folder, 'outside'), SECRET);
writeFileSync(join(folder, 'credentials', 'key'), 'sk-test-of-a-file');
symlinkSync(join(folder, 'outside'), join(folder, 'credentials', 'link'));
spawnSync('mkfifo', [join(folder, 'credentials', 'pipe')]);
const gateway = await startManaged(
  { server: { credential_dirs: [join(folder, 'credentials')] } },
  { environment: { MACHINE_SECRET: SECRET, REGION: 'eu', NUMBER: '7' } },
);
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

async function check(config: object | string): Promise<readonly string[]> {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  const { status, body } = await gateway.manage('POST', '/config/check', { config: text });
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain('a-secret');
  return body['problems'] as readonly string[];
}

const VARIABLE = '${MACHINE_SECRET}';
const QUOTING: Readonly<Record<string, object>> = {
  'a project of a key': { keys: [{ name: 'a', key: 'sk-test-a', project: VARIABLE }] },
  'an alias': { aliases: { a: VARIABLE } },
  'a preset': { providers: { a: { preset: VARIABLE } } },
  'a model': { models: [{ id: VARIABLE }] },
  'a provider of an endpoint': { models: [{ id: 'a/b', endpoints: [{ provider: VARIABLE }] }] },
  'a name in routing': { routing: { default: { order: [VARIABLE] } } },
  'a profile': { providers: { bedrock: { profile: VARIABLE } } },
  'a time zone': { budgets: [{ usd: 1, per: 'day', timezone: VARIABLE }] },
  'a folder': { prompts: VARIABLE },
  'a certificate': { upstream: { ca: [VARIABLE] } },
  'credentials of Google': { providers: { vertex: { credentials: VARIABLE } } },
};

describe('drafts', () => {
  test.each(shareOf(Object.entries(QUOTING)))(
    'a draft does not reveal a variable through %s',
    async (_, config) => {
      for (const problem of await check(config)) expect(problem).not.toMatch(/is not set/);
    },
  );

  test.each(Object.entries(QUOTING))('a start quotes no variable through %s', (_, config) => {
    const environment = { MACHINE_SECRET: SECRET };
    const readFile = (path: string): string => {
      if (path === 'c') return JSON.stringify(config);
      throw new Error('ENOENT');
    };
    let message = '';
    try {
      const loaded = loadConfig({ environment, flags: { config: 'c' }, readFile });
      buildSnapshot({ config: loaded.config, presets, sim: null, environment, revision: 1 });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      message = error.message;
    }
    expect(message).not.toContain('a-secret');
  });

  test('a draft reads no file outside of the folders, and does not reveal whether it exists', async () => {
    const { 0: there } = await check({
      providers: { openai: { api_key: `file:${join(folder, 'outside')}` } },
    });
    const { 0: none } = await check({
      providers: { openai: { api_key: `file:${join(folder, 'nothing')}` } },
    });
    expect(there?.replace('outside', 'nothing')).toBe(none ?? '');
    expect(there).toContain('server.credential_dirs');
    const credentials = join(folder, 'outside');
    for (const config of [
      { providers: { vertex: { credentials: '/etc/passwd', project: 'a' } } },
      { providers: { vertex: { credentials: `file:${credentials}`, project: 'a' } } },
      { providers: { openai: { api_key: 'sk-test', tls: { ca: credentials } } } },
      { upstream: { ca: [credentials] } },
      { prompts: '/etc' },
      { providers: { openai: { api_key: `file:${join(folder, 'credentials', 'link')}` } } },
      { providers: { openai: { api_key: `file:${join(folder, 'credentials', '..', 'outside')}` } } },
    ])
      expect((await check(config))[0]).toContain('server.credential_dirs');
  });

  test('a valid draft passes, and its references are named', async () => {
    const file = `file:${join(folder, 'credentials', 'key')}`;
    const config = {
      server: { port: '${NUMBER}' },
      keys: [
        { name: 'a', key: '${MACHINE_SECRET}' },
        { name: 'b', key: file },
      ],
      providers: { openai: { api_key: file, base_url: 'https://${REGION}.example/v1' } },
      models: [{ id: 'openai/gpt-5', price: { input: '${NUMBER}', output: 2 } }],
    };
    const { body } = await gateway.manage('POST', '/config/check', { config: JSON.stringify(config) });
    expect(body['problems']).toEqual([]);
    expect(body['unchecked']).toContain('providers.openai.api_key');
    expect(await check({ server: { port: '${NOT_SET}' } })).toEqual([
      expect.stringContaining('NOT_SET is not set'),
    ]);
  });
});

describe('requests', () => {
  test.each([
    ['/dev/zero', 0],
    ['/dev/random', 1],
    ['pipe', 2],
  ] as const)('are served although the draft names %s', async (name, shift) => {
    const path = name === 'pipe' ? join(folder, 'credentials', 'pipe') : name;
    const configs = [
      { providers: { openai: { api_key: `file:${path}` } } },
      { upstream: { ca: [path] } },
      { providers: { vertex: { credentials: path, project: 'a' } } },
    ];
    for (const config of shareOf<object>(configs, shift)) expect(await check(config)).toHaveLength(1);
    expect((await gateway.get('/models')).status).toBe(200);
  });

  test('are served although aliases of the draft stand for billions of values', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 10; level++)
      lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`);
    expect((await check(lines.join('\n')))[0]).toContain('aliases');
    expect((await check('a: *b'))[0]).toBeDefined();
  });

  test('are served while a deeply nested draft is checked', async () => {
    const text = `${'{a: '.repeat(9000)}1${'}'.repeat(9000)}`;
    const checking = check(text);
    expect((await gateway.get('/models')).status).toBe(200);
    expect((await checking).length).toBeGreaterThan(0);
  });
});

test('a configured file must be a regular one of at most 1 MB', () => {
  const load = (path: string): unknown => loadConfig({ environment: {}, flags: { config: path } });
  const large = join(folder, 'large');
  writeFileSync(large, `# ${'a'.repeat(1_100_000)}`);
  for (const path of ['/dev/zero', join(folder, 'credentials', 'pipe'), large, folder])
    expect(() => load(path)).toThrow(`cannot read ${path}`);
});
