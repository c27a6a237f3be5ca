// `dragoman doctor` as a person runs it, against scripted servers: what it prints, keeps and forgets, and what a gateway
// with the same data directory sends from then on.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chats, doctorServer, type ChatRequest } from '../../support/doctor-server.ts';
import { inThisShell } from '../../../src/app/cli/program-name.ts';
import { startGateway } from '../../support/harness.ts';
import { eventually, freshFolder, runProgram, type Finished } from '../../support/program.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { DEAD_ORIGIN, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const KEY = 'sk-test-of-the-lab';
/** Knows only the older name of the output limit, and no schemas. */
const OLD = {
  refuse: (body: ChatRequest): string | undefined => {
    if (body['max_completion_tokens'] !== undefined) return 'unknown member max_completion_tokens';
    return JSON.stringify(body['response_format'] ?? '').includes('json_schema')
      ? 'json_object only'
      : undefined;
  },
};

let folder: string;
let remove: () => void;

const upstream = await startUpstream();
afterAll(() => upstream.stop());
beforeEach(() => {
  ({ folder, remove } = freshFolder());
});
afterEach(() => remove());

interface Configured {
  readonly quirks?: object;
  readonly unsupported?: readonly string[];
  readonly origin?: string;
  readonly models?: readonly object[];
}

function configOf({ quirks, unsupported, origin = upstream.origin, models }: Configured = {}): Readonly<
  Record<string, unknown>
> {
  return {
    providers: {
      sim: false,
      lab: {
        api_key: KEY,
        protocols: { 'openai-chat': { base_url: `${origin}/v1`, quirks, unsupported } },
      },
    },
    models: models ?? [{ id: 'lab/m', endpoints: [{ provider: 'lab' }] }],
  };
}

function doctor(config: object, ...args: readonly string[]): Promise<Finished> {
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ ...config, data_dir: join(folder, 'data') }));
  return runProgram(['doctor', '--config', 'dragoman.yaml', ...args], { folder });
}

function kept(): { endpoints: { provider: string; model: string; facts: { quirks: object } }[] } | null {
  const path = join(folder, 'data', 'capabilities.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof kept>) : null;
}

const QUESTION = {
  model: 'lab/m',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi!' }],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
};

describe('the result of a probe', () => {
  test('is printed, kept, and sent from then on, by a gateway that runs too', async () => {
    upstream.always(doctorServer(OLD));
    await using gateway = await startGateway(configOf(), { dataDir: join(folder, 'data') });
    expect((await gateway.post('/chat/completions', QUESTION)).status).toBe(400);

    const result = await doctor(configOf());
    expect(result.code).toBe(0);
    expect(result.out).toContain(`lab/m over openai-chat at ${upstream.origin}/v1`);
    expect(result.out).toMatch(/✓ reachable, key accepted +responds/);
    expect(result.out).toMatch(/✗ enforces a JSON schema +rejected; .*400: json_object only/);
    expect(result.out).toContain('→ max_tokens_field: max_tokens (before: as_written)');
    expect(result.err).toMatch(/^lab\/m over openai-chat: at most \d+ requests and \d+ tokens/);
    expect(result.err).toMatch(/ 1\/\d+ ✓ reachable, key accepted\n/);

    upstream.always(doctorServer(OLD));
    await eventually(
      'the gateway has read it',
      async () => (await gateway.post('/chat/completions', QUESTION)).status === 200,
    );
    const sent = chats(upstream.requests).at(-1);
    expect(sent).toMatchObject({ max_tokens: 50 });
    expect(sent).not.toHaveProperty('max_completion_tokens');

    // A format that is not enforced is emulated.
    expect(sent).toMatchObject({ response_format: { type: 'json_object' } });

    const forgotten = await doctor(configOf(), '--forget', 'lab');
    expect(forgotten).toMatchObject({ code: 0, out: 'Deleted the results of 1 endpoint.\n' });
    await eventually(
      'the gateway has forgotten it',
      async () => (await gateway.post('/chat/completions', QUESTION)).status === 400,
    );
  });

  test('is overridden by the operator', async () => {
    upstream.always(doctorServer({ ...OLD, blind: ({ stop: _, ...rest }) => rest as ChatRequest }));
    const own = configOf({
      quirks: { structured_output: 'json_schema', max_tokens_field: 'max_completion_tokens' },
      unsupported: ['seed'],
    });
    const result = await doctor(own, '--json');
    expect(result.code).toBe(0);
    const [endpoint] = (JSON.parse(result.out) as { endpoints: { changes: unknown[] }[] }).endpoints;
    expect(endpoint?.changes).toEqual(
      expect.arrayContaining([
        {
          name: 'structured_output',
          known: 'json_schema',
          measured: 'json_object',
          overruled: true,
        },
        { name: 'stop', known: 'supported', measured: 'unsupported', overruled: true },
      ]),
    );
    await using gateway = await startGateway(own, { dataDir: join(folder, 'data') });
    upstream.always(doctorServer());
    const response = await gateway.post('/chat/completions', {
      ...QUESTION,
      stop: ['x'],
      seed: 7,
    });
    expect(response.status).toBe(200);
    const sent = chats(upstream.requests).at(-1);
    expect(sent).toMatchObject({
      max_completion_tokens: 50,
      stop: ['x'],
      response_format: { type: 'json_schema' },
    });
    expect(sent).not.toHaveProperty('seed');
  });

  test('protects texts of clients from a server that does not match its preset', async () => {
    const config = {
      providers: { sim: false, openai: { api_key: KEY, base_url: `${upstream.origin}/v1` } },
      models: [{ id: 'openai/m', endpoints: [{ provider: 'openai' }] }],
    };
    const question = { ...QUESTION, model: 'openai/m', max_tokens: undefined, max_completion_tokens: 50 };
    upstream.always(doctorServer(OLD));
    await using gateway = await startGateway(config, { dataDir: join(folder, 'data') });
    expect((await gateway.post('/chat/completions', question)).status).toBe(400);
    const result = await doctor(config);
    expect(result.code).toBe(0);
    expect(result.out).toContain('→ faithful: false (before: true)');
    expect(gateway.reload()).toBe(true);
    expect((await gateway.post('/chat/completions', question)).status).toBe(200);
    expect(chats(upstream.requests).at(-1)).toMatchObject({ max_tokens: 50 });
  });

  test('does not apply to another address', async () => {
    upstream.always(doctorServer(OLD));
    expect((await doctor(configOf())).code).toBe(0);
    const remote = await startUpstream();
    remote.always(doctorServer());
    const gateway = await startGateway(configOf({ origin: remote.origin }), {
      dataDir: join(folder, 'data'),
    });
    try {
      expect((await gateway.post('/chat/completions', QUESTION)).status).toBe(200);
      expect(chats(remote.requests)[0]).toMatchObject({ response_format: { type: 'json_schema' } });
    } finally {
      await gateway.close();
      await remote.stop();
    }
  });

  test('is shown by `models`, in a file that only its owner can read', async () => {
    upstream.always(doctorServer());
    expect((await doctor(configOf())).code).toBe(0);
    const listed = await runProgram(['models', 'lab', '--config', 'dragoman.yaml'], { folder });
    expect(listed.out).toMatch(/lab \(openai-chat, probed \d{4}-\d\d-\d\d\)/);
    // Also where the model stands in no list.
    expect((await doctor(configOf({ models: [] }), '--model', 'lab/other')).code).toBe(0);
    const besides = await runProgram(['models', 'lab', '--config', 'dragoman.yaml'], { folder });
    expect(besides.out).toMatch(/lab\/other .*lab \(openai-chat, probed \d{4}-\d\d-\d\d\)/);
    expect(statSync(join(folder, 'data', 'capabilities.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'data', 'capabilities.json'), 'utf8')).not.toContain(KEY);
  });

  test('is replaced by that of a new probe', async () => {
    upstream.always(doctorServer(OLD));
    expect((await doctor(configOf())).code).toBe(0);
    upstream.always(doctorServer());
    expect((await doctor(configOf())).code).toBe(0);
    expect(kept()?.endpoints).toHaveLength(1);
    expect(kept()?.endpoints[0]?.facts.quirks).toMatchObject({ max_tokens_field: 'max_completion_tokens' });
  });
});

describe('nothing is kept, and the exit code is 1, when', () => {
  test('key rejected', async () => {
    upstream.always(whole({ error: { message: `Incorrect API key provided: ${KEY}` } }, 401));
    const result = await doctor(configOf());
    expect(result.code).toBe(1);
    expect(result.out).toContain('✗ reachable, key accepted');
    expect(result.out).toContain('key rejected: 401: Incorrect API key provided: [secret]');
    expect(result.out).toContain('skipped because of earlier failures');
    expect(result.out + result.err).not.toContain(KEY);
    expect(kept()).toBeNull();
  });

  test('no server is reachable', async () => {
    const result = await doctor(configOf({ origin: DEAD_ORIGIN }));
    expect(result.code).toBe(1);
    expect(result.out).toMatch(/✗ reachable, key accepted +lab could not be reached/);
    expect(kept()).toBeNull();
  });

  test('the server is silent, within the time that was given', async () => {
    upstream.always(() => {});
    const result = await doctor(configOf(), '--timeout', '0.2');
    expect(result.code).toBe(1);
    expect(result.out).toContain('silent: no complete response within 200 ms');
    expect(upstream.requests).toHaveLength(1);
  });

  test('the server is overloaded', async () => {
    upstream.always(whole({ error: { message: 'slow down' } }, 429, { 'retry-after': '60' }));
    const result = await doctor(configOf());
    expect(result.code).toBe(1);
    expect(result.out).toMatch(/\? reachable, key accepted +reachable, but does not respond: 429/);
    expect(upstream.requests).toHaveLength(1);
  });
});

test('a provider without models in the configuration is examined by the first that it lists', async () => {
  upstream.always(
    doctorServer({
      list: whole({ data: [{ id: 'text-embedding-small' }, { id: 'tiny' }, { id: 'large' }] }),
    }),
  );
  const result = await doctor(configOf({ models: [] }), '--json');
  expect(result.code).toBe(0);
  expect(kept()?.endpoints.map(({ model }) => model)).toEqual(['tiny']);

  upstream.always(doctorServer({ list: whole('gone', 404) }));
  const unlisted = await doctor(configOf({ models: [] }));
  expect(unlisted.code).toBe(1);
  expect(unlisted.err).toBe('lab: it does not list its models; select one with --model lab/NAME\n');
});

test('the cheapest listed text model of a known vendor is examined', async () => {
  const ids = [
    'whisper-1',
    'babbage-002',
    'gpt-unheard-of',
    'gpt-4.1',
    'gpt-4.1-nano',
    'text-embedding-3-small',
  ];
  upstream.always(doctorServer({ list: whole({ data: ids.map((id) => ({ id })) }) }));
  const config = { providers: { sim: false, openai: { api_key: KEY, base_url: `${upstream.origin}/v1` } } };
  const result = await doctor(config, '--json');
  expect(result.code).toBe(0);
  expect(kept()?.endpoints.map(({ model }) => model)).toEqual(['gpt-4.1-nano']);
});

test('the built-in provider is examined on request, and its results match its declaration', async () => {
  const result = await doctor({}, '--model', 'sim/deepseek', '--json');
  expect(result.code).toBe(0);
  const [endpoint] = (JSON.parse(result.out) as { endpoints: { stored: boolean; facts: object }[] })
    .endpoints;
  expect(endpoint).toMatchObject({
    stored: false,
    facts: { quirks: { structured_output: 'json_object', reasoning_replay: 'reasoning_content' } },
  });
  expect(kept()).toBeNull();
});

test('a model of another task gets one request of that task', async () => {
  const config = configOf({ models: [{ id: 'lab/text-embed-1', endpoints: [{ provider: 'lab' }] }] });
  upstream.script(whole({ data: [{ embedding: [1, 0] }], usage: { prompt_tokens: 1, total_tokens: 1 } }));
  const well = await doctor(config, '--json');
  expect(well.code).toBe(0);
  expect(JSON.parse(well.out)).toMatchObject({
    endpoints: [{ stored: true, findings: [{ probe: 'answers', outcome: 'yes' }] }],
  });
  expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/embeddings']);

  upstream.script(whole({ error: { message: 'wrong key' } }, 401));
  const refused = await doctor(config);
  expect(refused.code).toBe(1);
  expect(refused.out).toMatch(/reachable, key accepted +key rejected: 401: wrong key/);
});

test('a dry run sends no request', async () => {
  upstream.always(doctorServer());
  const result = await doctor(configOf(), '--dry-run', '--json');
  expect(result.code).toBe(0);
  expect(result.err).toMatch(/^lab\/m over openai-chat: at most \d+ requests and \d+ tokens/);
  const plan = JSON.parse(result.out) as { endpoints: { probes: string[]; calls: number }[] };
  expect(plan.endpoints[0]?.probes).toContain('json_schema');
  expect(plan.endpoints[0]?.calls).toBeGreaterThan(20);
  expect(upstream.requests).toEqual([]);
  expect(kept()).toBeNull();
});

test('an examination costs no more requests than it announces', async () => {
  upstream.always(doctorServer());
  const { err } = await doctor(configOf(), '--deep');
  const announced = Number(/at most (\d+) requests/.exec(err)?.[1]);
  expect(upstream.requests.length).toBeLessThanOrEqual(announced);
  expect(upstream.requests.length).toBeGreaterThan(20);
});

test.each([
  [['--provider', 'nobody'], 'provider "nobody" is not enabled'],
  [['--model', 'nobody/m'], 'model "nobody/m" not found'],
  [['--timeout', 'soon'], '--timeout: must be a number of seconds'],
  [['nobody'], 'provider "nobody" is not enabled'],
  [['lab', 'm'], 'unexpected argument "m": dragoman doctor [PROVIDER]'],
  [['--nonsense'], 'unknown option "--nonsense"'],
])('doctor %j is refused with exit code 2', async (args, message) => {
  upstream.always(doctorServer());
  const result = await doctor(configOf(), ...args);
  expect(result).toMatchObject({ code: 2, out: '' });
  expect(result.err).toContain(message);
  expect(upstream.requests).toEqual([]);
});

test.each([
  ['no JSON', '{'],
  ['another version', '{"version": 99, "endpoints": []}'],
  ['an invalid entry', '{"version": 1, "endpoints": [{"provider": "lab"}, null, 7]}'],
  [
    'an invalid quirk',
    JSON.stringify({
      version: 1,
      endpoints: [
        {
          provider: 'lab',
          protocol: 'openai-chat',
          model: 'm',
          base_url: 'http://x',
          probed_at: '2026-11-21T00:00:00Z',
          facts: { quirks: { system_role: 'emperor' } },
        },
      ],
    }),
  ],
])('a kept file with %s stops no gateway, and can be forgotten', async (_, text) => {
  upstream.always(doctorServer());
  await using gateway = await startGateway(configOf(), { dataDir: join(folder, 'data') });
  writeFileSync(join(folder, 'data', 'capabilities.json'), text);
  expect(gateway.reload()).toBe(true);
  expect((await gateway.post('/chat/completions', QUESTION)).status).toBe(200);
  expect(gateway.logLines.join('')).toContain(`\`${inThisShell('doctor --forget')}\` repairs it`);
  expect((await doctor(configOf(), '--forget')).code).toBe(0);
  gateway.logLines.length = 0;
  expect(gateway.reload()).toBe(true);
  expect(gateway.logLines.join('')).not.toContain('capabilities');
});
