// The configuration through its public seam: precedence, references, messages, immutability, reloading.
import type { SchemaNode } from '../../../src/catalog/schema/index.ts';
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pages } from '../../../docs/generate.ts';
import {
  ConfigError,
  buildSnapshot,
  configNodeAt,
  loadConfig,
  watchConfig,
} from '../../../src/app/config/index.ts';
import type { Config, Environment, Flags } from '../../../src/app/config/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';

const FILE = '/etc/dragoman.yaml';

function load(
  text: string,
  environment: Environment = {},
  flags: Flags = {},
  files: Record<string, string> = {},
): Config {
  const readFile = (path: string): string => {
    const found = path === FILE ? text : files[path];
    if (found === undefined) throw new Error('no such file');
    return found;
  };
  return loadConfig({ environment, flags: { config: FILE, ...flags }, readFile }).config;
}

/** The message of the ConfigError that `run` throws. */
function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

function snapshot(
  config: Config,
  environment: Environment = {},
  revision = 1,
): ReturnType<typeof buildSnapshot> {
  return buildSnapshot({ config, presets, sim: null, environment, now: () => 0, revision });
}

const EXAMPLE = `
server: { host: 127.0.0.1, port: 4000, body_limit_mb: 32 }
keys:
  - { name: local, key: "\${DRAGOMAN_KEY:-}" }
providers:
  openai:    { api_key: "\${OPENAI_API_KEY}" }
  anthropic: { api_key: "\${ANTHROPIC_API_KEY}", base_url: "https://api.anthropic.com/" }
  my-vllm:
    api_key: none
    protocols: { openai-chat: "http://10.0.0.5:8000/v1" }
models:
  - id: openai/gpt-5
    context_length: 400000
    quality: 0.9
    endpoints:
      - { provider: openai, model: gpt-5, protocol: openai-responses }
      - { provider: my-vllm, model: gpt-oss-120b, price: { input: 0.1, output: 0.4 } }
aliases: { gpt-5: openai/gpt-5 }
routing: { timeouts: { idle_ms: 1234 } }
tools:
  mcp: { servers: { docs: { url: "https://mcp.example/mcp", headers: { authorization: "\${DOCS_TOKEN}" } } } }
`;
const KEYS: Environment = {
  OPENAI_API_KEY: 'sk-test-o',
  ANTHROPIC_API_KEY: 'sk-test-a',
  DOCS_TOKEN: 'sk-test-d',
};

test('the documented example loads, with defaults filled in', () => {
  const config = load(EXAMPLE, KEYS);
  expect(config.server.bodyLimitBytes).toBe(32 * 1024 * 1024);
  expect(config.routing.timeouts).toEqual({
    connectMs: 5000,
    firstTokenMs: 60_000,
    responseMs: 300_000,
    idleMs: 1234,
    totalMs: 600_000,
  });
  expect(config.keys).toEqual([]);
  expect(config.tools.mcp.servers['docs']?.headers['authorization']?.reveal()).toBe('sk-test-d');
  const model = snapshot(config, KEYS).catalog.find('gpt-5');
  expect(model?.endpoints.map((e) => [e.slug, e.protocol, e.baseUrl, e.auth?.key.reveal() ?? null])).toEqual([
    ['openai', 'openai-responses', 'https://api.openai.com/v1', 'sk-test-o'],
    ['my-vllm', 'openai-chat', 'http://10.0.0.5:8000/v1', null],
  ]);
  expect(model?.endpoints[1]?.price).toEqual({ input: 0.1, output: 0.4, source: 'config' });
});

test('the schema matches the type: names in camel case, sizes in bytes, null for absent values, secrets unprintable', () => {
  const config = load(`
files: { max_mb: 1.5, store: { type: s3, bucket: b, access_key_id: id, secret_access_key: hidden } }
state: { max_mb_per_key: 2 }
tools: { mcp: { max_result_kb: 3 }, web_search: { backend: exa, api_key: also-hidden } }
`);
  expect(config.files).toMatchObject({
    maxBytes: 1_572_864,
    store: { accessKeyId: 'id', endpoint: 'https://s3.us-east-1.amazonaws.com' },
  });
  expect(config.state.maxBytesPerKey).toBe(2_097_152);
  expect(config.tools.mcp.maxResultBytes).toBe(3072);
  expect([config.prompts, config.server.tls, config.tools.webSearch.url]).toEqual([null, null, null]);
  expect(config.tools.webSearch.apiKey?.reveal()).toBe('also-hidden');
  expect(JSON.stringify(config)).not.toContain('hidden');
});

test('every accepted key is read by the program', () => {
  const root = join(import.meta.dir, '../../../src');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('schema.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const words = new Set(sources.match(/[\w$-]+/g));
  const inProgram = (name: string): string =>
    name
      .replaceAll(/_(?:mb|kb)(?=_|$)/g, '_bytes')
      .replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
  const names = new Set<string>();
  const collect = (node: SchemaNode | undefined): void => {
    if (!node) return;
    collect(node.element);
    for (const [name, member] of node.members) {
      names.add(name);
      collect(member);
    }
  };
  collect(configNodeAt([]));
  expect(names.size).toBeGreaterThan(150);
  expect([...names].filter((name) => !words.has(name) && !words.has(inProgram(name)))).toEqual([]);
});

test('an empty machine needs no file', () => {
  const { config, path } = loadConfig({ environment: {}, exists: () => false });
  expect(path).toBeNull();
  expect([config.server.host, config.server.port, config.dataDir]).toEqual(['127.0.0.1', 4000, './data']);
});

describe('precedence', () => {
  test('flags beat the environment, which beats the file', () => {
    const file = 'server: { host: 10.0.0.1, port: 1111 }\ndata_dir: /file';
    const environment = { DRAGOMAN_HOST: '10.0.0.2', DRAGOMAN_PORT: '2222', DRAGOMAN_DATA_DIR: '/env' };
    expect(load(file).server).toMatchObject({ host: '10.0.0.1', port: 1111 });
    expect(load(file, environment).server).toMatchObject({ host: '10.0.0.2', port: 2222 });
    expect(load(file, environment).dataDir).toBe('/env');
    expect(load(file, environment, { host: '10.0.0.3', port: '0', dataDir: '/flag' })).toMatchObject({
      server: { host: '10.0.0.3', port: 0 },
      dataDir: '/flag',
    });
  });

  test('a key from the environment is added once', () => {
    const file = 'keys: [{ name: a, key: "${DRAGOMAN_KEY}", models: [x/*], expires: 2026-01-31 }]';
    const config = load(file, { DRAGOMAN_KEY: 'sk-test' });
    expect(config.keys.map((key) => [key.name, key.models, key.expiresAt])).toEqual([
      ['a', ['x/*'], Date.UTC(2026, 0, 31)],
    ]);
    expect(load('', { DRAGOMAN_KEY: 'sk-test' }).keys.map((key) => key.key.reveal())).toEqual(['sk-test']);
  });

  test('two entries for one key are refused, empty ones are not entries', () => {
    const keys = (...texts: string[]): string =>
      `keys: [${texts.map((text, at) => `{ name: k${at}, key: "${text}" }`).join(', ')}]`;
    expect(failure(() => load(keys('', 'sk-test-a', 'sk-test-b', 'sk-test-a')))).toContain('keys[3].key');
    expect(load(keys('', '', 'sk-test-a', 'sk-test-b')).keys).toHaveLength(2);
  });

  test('the file is the named one, or dragoman.yaml if it exists', () => {
    const seen: string[] = [];
    const readFile = (path: string): string => {
      seen.push(path);
      return '';
    };
    loadConfig({ environment: {}, exists: (path) => path === 'dragoman.yaml', readFile });
    loadConfig({ environment: { DRAGOMAN_CONFIG: 'a.yaml' }, readFile });
    loadConfig({ environment: { DRAGOMAN_CONFIG: 'a.yaml' }, flags: { config: 'b.yaml' }, readFile });
    expect(seen).toEqual(['dragoman.yaml', 'a.yaml', 'b.yaml']);
  });
});

describe('references', () => {
  test('variables, defaults, escapes and typed values', () => {
    const file = 'server: { port: "${P}", host: "${H:-10.1.1.1}" }\nstrict: "${S}"\ndata_dir: "$${x}/${P}"';
    const config = load(file, { P: '81', H: '', S: 'true' });
    expect(config).toMatchObject({
      server: { port: 81, host: '10.1.1.1' },
      strict: true,
      dataDir: '${x}/81',
    });
  });

  test('a number stays text if text is required', () => {
    const provider = load('providers: { groq: { api_key: "${K}" } }', { K: '12345' }).providers['groq'];
    expect(provider && provider.apiKey?.reveal()).toBe('12345');
  });

  test('secrets are read from files, other values are not', () => {
    const file = 'providers: { openai: { api_key: file:/run/secrets/x } }\ndata_dir: file:/data';
    const config = load(file, {}, {}, { '/run/secrets/x': 'sk-file\n' });
    const provider = config.providers['openai'];
    expect(provider && provider.apiKey?.reveal()).toBe('sk-file');
    expect(config.dataDir).toBe('file:/data');
  });

  test('secrets cannot be printed', () => {
    const text = JSON.stringify(load(EXAMPLE, { ...KEYS, DRAGOMAN_KEY: 'sk-test-k' }));
    expect(text).not.toContain('sk-test');
    expect(text).toContain('[secret]');
  });
});

test.each([
  ['servr: {}', 'servr: unknown key; did you mean "server"?'],
  ['server: { prot: 1 }', 'server.prot: unknown key; did you mean "port"?'],
  ['routing: { timeouts: { idle: 3 } }', 'routing.timeouts.idle: unknown key; did you mean "idle_ms"?'],
  ['providers: { openai: { apikey: x } }', 'providers.openai.apikey: unknown key; did you mean "api_key"?'],
  [
    'providers: { v: { protocols: { openai: "http://x" } } }',
    'providers.v.protocols.openai: unknown key; did you mean "openai-chat"?',
  ],
  [
    'models: [{ id: a/b, endpoints: [{ provider: x, price: { inptu: 1 } }] }]',
    'models[0].endpoints[0].price.inptu: unknown key; did you mean "input"?',
  ],
  [
    'server: { port: "${P}" }',
    'server.port: the environment variable P is not set; set it, or write ${P:-} if it may be empty',
  ],
  ['server: { port: 99999 }', 'server.port: too big: expected number to be <=65535'],
  ['strict: maybe', 'strict: must be a boolean, not a string'],
  ['providers: { v: { protocols: { openai-chat: "ftp://x" } } }', 'providers.v.protocols.openai-chat: '],
  [
    'providers: { openai: { api_key: file:/nowhere } }',
    'providers.openai.api_key: cannot read the file /nowhere: no such file',
  ],
  ['a: b: c', 'line 1, column 4: '],
  ['a: 1\na: 2', 'line 2, column 1: '],
  ['- 1', 'the file must contain keys and values'],
])('refuses %p', (text, message) => {
  expect(failure(() => load(text))).toStartWith(message);
});

test('the error names the invalid variable, not its configuration key', () => {
  expect(failure(() => load('', { DRAGOMAN_PORT: 'abc' }))).toBe(
    'server.port: DRAGOMAN_PORT must be a port from 0 to 65535 (got "abc")',
  );
  expect(failure(() => loadConfig({ environment: { DRAGOMAN_CONFIG: '/nowhere/x.yaml' } }))).toStartWith(
    'cannot read /nowhere/x.yaml',
  );
});

test('every problem is reported, the first one by its path', () => {
  try {
    load('strict: 1\nservr: 2\nserver: { port: -1 }');
    throw new Error('accepted');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.problems).toHaveLength(3);
    expect(error.problems[0]).toStartWith(error.path);
  }
});

test.each([
  [
    'providers: { openia: { api_key: x } }',
    'providers.openia: is not a preset (did you mean "openai"?), so it requires `protocols`',
  ],
  [
    'providers: { openai: {} }',
    'providers.openai.api_key: missing: set it here or in the environment variable OPENAI_API_KEY',
  ],
  ['providers: { x: { preset: nope } }', 'providers.x.preset: "nope" is not a preset'],
  [
    'models: [{ id: x/y, endpoints: [{ provider: openai }] }]',
    'models[0].endpoints[0].provider: "openai" is not an enabled provider; enabled are: groq',
  ],
  [
    'models: [{ id: x/y, endpoints: [{ provider: groq, protocol: anthropic-messages }] }]',
    'models[0].endpoints[0].protocol: groq does not support anthropic-messages; it supports openai-chat',
  ],
  ['models: [{ id: x/y }]', 'models[0].endpoints: missing, and "x" is not an enabled provider'],
  ['models: [{ id: groq/a }, { id: groq/a }]', 'models[1].id: "groq/a" is a duplicate id'],
  [
    'models: [{ id: a/b, endpoints: [{ provider: groq, name: n }, { provider: groq, name: n }] }]',
    'models[0].endpoints[1]: is another endpoint',
  ],
  ['aliases: { a: b, b: c, c: a }', 'aliases.a: is circular: a → b → c → a'],
  ['aliases: { a: lama/x }', 'aliases.a: "lama/x" is not a model of an enabled provider'],
  [
    'models: [{ id: groq/a }]\naliases: { groq/a: groq/b }',
    'aliases.groq/a: "groq/a" is also the id of a configured model',
  ],
])('a snapshot refuses %p', (text, message) => {
  const environment = { GROQ_API_KEY: 'sk-test' };
  expect(failure(() => snapshot(load(text, environment), environment))).toStartWith(message);
});

test('a snapshot cannot be changed', () => {
  const made = snapshot(load(EXAMPLE, KEYS), KEYS);
  const frozen = [
    made,
    made.config,
    made.config.routing.timeouts,
    made.config.models[0],
    made.catalog,
    made.catalog.list(),
  ];
  const endpoint = made.catalog.find('gpt-5')?.endpoints[0];
  for (const value of [...frozen, made.catalog.find('gpt-5'), endpoint, endpoint?.quirks, endpoint?.price]) {
    expect(Object.isFrozen(value)).toBe(true);
  }
});

describe('reloading', () => {
  function harness(path: string | null): {
    watched: ReturnType<typeof watchConfig<{ revision: number; text: string }>>;
    logs: string[];
    text: { now: string };
    fire: () => void;
    hangup: () => void;
    run: () => void;
  } {
    const logs: string[] = [];
    const text = { now: 'valid 1' };
    let changed = (): void => {};
    let reload = (): void => {};
    let pending: (() => void) | undefined;
    const watched = watchConfig<{ revision: number; text: string }>({
      path,
      current: { revision: 1, text: text.now },
      load: (revision) => {
        if (!text.now.startsWith('valid')) throw new ConfigError('server.port', 'wrong');
        return { revision, text: text.now };
      },
      log: (level, message) => logs.push(`${level}: ${message}`),
      watchFile: (_path, callback) => {
        changed = callback;
        return () => {};
      },
      onHangup: (callback) => {
        reload = callback;
        return () => {};
      },
      schedule: (run) => {
        pending = run;
        return () => (pending = undefined);
      },
    });
    return { watched, logs, text, fire: () => changed(), hangup: () => reload(), run: () => pending?.() };
  }

  test('a valid change is swapped in after a pause, once', () => {
    const h = harness('x.yaml');
    h.text.now = 'valid 2';
    h.fire();
    h.fire();
    expect(h.watched.current().text).toBe('valid 1');
    h.run();
    expect(h.watched.current()).toEqual({ revision: 2, text: 'valid 2' });
    expect(h.logs).toEqual(['info: configuration 2 is in use']);
  });

  test('an invalid change is refused and the old one stays; a later valid one counts on', () => {
    const h = harness('x.yaml');
    const before = h.watched.current();
    h.text.now = 'broken';
    h.hangup();
    expect(h.watched.current()).toBe(before);
    expect(h.logs[0]).toContain('rejected; the previous one stays in use: server.port: wrong');
    h.text.now = 'valid 3';
    h.hangup();
    expect(h.watched.current()).toEqual({ revision: 2, text: 'valid 3' });
  });

  test.each([
    ['replaced', false],
    ['replaced by a tool that keeps its size and time', true],
  ])('a real file is noticed when it is %s', async (_, keepsTime) => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-config-'));
    const path = join(folder, 'dragoman.yaml');
    writeFileSync(path, 'strict: false');
    const time = new Date('2026-11-22');
    utimesSync(path, time, time);
    const build = (revision: number): ReturnType<typeof buildSnapshot> =>
      snapshot(loadConfig({ environment: { DRAGOMAN_CONFIG: path } }).config, {}, revision);
    const swapped = Promise.withResolvers<boolean>();
    const watched = watchConfig({
      path,
      current: build(1),
      load: build,
      log: () => {},
      onSwap: (next) => swapped.resolve(next.config.strict),
      debounceMs: 5,
    });
    try {
      writeFileSync(path, 'strict: true ');
      if (keepsTime) utimesSync(path, time, time);
      expect(await swapped.promise).toBe(true);
      expect(watched.current().config.strict).toBe(true);
    } finally {
      watched.close();
      rmSync(folder, { recursive: true });
    }
  });
});

test.each(pages.map((page) => [page.file, page] as const))('docs/%s is current', (file, page) => {
  // Run `npm run docs` when this fails.
  expect(readFileSync(join(import.meta.dir, '../../../docs', file), 'utf8')).toBe(page.render());
});
