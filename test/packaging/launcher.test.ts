// The program from outside: the launcher, its output, its exit codes, signals, variables, keys and reloading.
import { expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  eventually,
  freshFolder,
  nodeLauncher,
  runProgram,
  runtimePid,
  startProgram,
  type Program,
  type ProgramOptions,
} from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';
import { StreamReading } from '../support/upstreams/gateway-with-upstreams.ts';

const LINUX = process.platform === 'linux';
const KEY = 'sk-test';

const undo = undoAfterEach();

function folder(): string {
  const fresh = freshFolder();
  undo.push(fresh.remove);
  return fresh.folder;
}

async function serve(options: ProgramOptions, ...args: string[]): Promise<Program> {
  const environment = { DRAGOMAN_PORT: '0', ...options.environment };
  const program = await startProgram(args, { ...options, environment });
  undo.push(() => program.stop());
  return program;
}

function chat(program: Program, key: string, body: object): Promise<Response> {
  return fetch(`${program.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello!' }], ...body }),
  });
}

async function statusOf(program: Program, key: string, model = 'sim/echo'): Promise<number> {
  const response = await chat(program, key, { model });
  await response.arrayBuffer();
  return response.status;
}

/** Starts a stream that takes about two seconds, and waits for its first content. */
async function openStream(program: Program): Promise<() => Promise<string>> {
  const response = await chat(program, KEY, {
    model: 'sim/paced-40',
    stream: true,
    messages: [{ role: 'user', content: 'write 60 words' }],
  });
  const reading = new StreamReading(response);
  await reading.until('"content":"');
  return () => reading.rest();
}

test('an empty data directory gets a key, printed once with a working curl command', async () => {
  const at = folder();
  const first = await serve({ folder: at });
  expect(first.out()).toStartWith(`listening on ${first.origin}\n`);
  await eventually('the curl line is printed', () => /^curl .*\n/m.test(first.out()));
  expect(first.out()).toContain(`\nconsole: ${first.origin}/console#code=`);
  for (const help of [
    'is for you. It opens the console',
    'is for your programs',
    'Add a provider:',
    `Documentation: ${first.origin}/docs/guide`,
  ])
    expect(first.out()).toContain(help);
  const command = /^curl .*$/m.exec(first.out())?.[0] ?? '';
  const pasted = Bun.spawn(['sh', '-c', command], { stdout: 'pipe', stderr: 'ignore' });
  const answer = JSON.parse(await new Response(pasted.stdout).text()) as {
    choices: { message: { content: string } }[];
  };
  expect(answer.choices[0]?.message.content).toContain('Hello!');
  expect((await first.stop()).code).toBe(0);

  const second = await serve({ folder: at });
  // The link that signs in is for people who look: here nobody does, and the gateway is not new any more.
  // A shell that does not know the command is told the one that it does know.
  expect((await second.stop()).out.replace('npx --no ', '')).toBe(
    `listening on ${second.origin}\nconsole: ${second.origin}/console (\`dragoman console\` prints a sign-in link)\nproviders: sim\n`,
  );
  const key = /sk-dm-v1-\w+/.exec(command)?.[0] ?? '';
  const third = await serve({ folder: at, environment: { GROQ_API_KEY: 'gsk-test' } });
  expect(await statusOf(third, key)).toBe(200);
  await eventually('a provider whose variable is set is named', () =>
    third.out().includes('\nproviders: groq, sim\n'),
  );
});

test('a gateway on all hosts prints addresses that this machine reaches', async () => {
  const program = await serve({ folder: folder() }, 'serve', '--host', '0.0.0.0');
  await eventually('the curl line is printed', () => /^curl .*\n/m.test(program.out()));
  const here = program.origin.replace('0.0.0.0', '127.0.0.1');
  expect(program.out()).toStartWith(`listening on ${program.origin}\nconsole: ${here}/console#code=`);
  expect(program.out()).toContain(`\ncurl ${here}/v1/chat/completions `);
});

test('no key is created if the environment contains one', async () => {
  const program = await serve({ folder: folder(), environment: { DRAGOMAN_KEY: KEY } });
  expect(await statusOf(program, KEY)).toBe(200);
  expect(await statusOf(program, 'sk-other')).toBe(401);
  expect((await program.stop()).out).not.toContain('first API key');
});

test('SIGTERM lets a running stream finish, refuses new requests, and exits with 0', async () => {
  const program = await serve({ folder: folder(), environment: { DRAGOMAN_KEY: KEY } });
  const finish = await openStream(program);
  const stopped = program.stop();
  await eventually('new requests are refused', () =>
    statusOf(program, KEY).then(
      (status) => status === 503,
      () => true,
    ),
  );
  const text = await finish();
  expect(text).toContain('"finish_reason":"stop"');
  expect(text).toEndWith('data: [DONE]\n\n');
  expect((await stopped).code).toBe(0);
});

test.skipIf(!LINUX)(
  'a signal to every process of the group, as terminals and service managers send it, still drains',
  async () => {
    const program = await serve({
      folder: folder(),
      environment: { DRAGOMAN_KEY: KEY },
      command: nodeLauncher(),
    });
    const finish = await openStream(program);
    const runtime = runtimePid(program.pid);
    process.kill(runtime, 'SIGTERM');
    process.kill(program.pid, 'SIGTERM');
    expect(await finish()).toEndWith('data: [DONE]\n\n');
    expect((await program.exited).code).toBe(0);
  },
);

test.skipIf(!LINUX)('a killed launcher leaves nothing running', async () => {
  const program = await serve({
    folder: folder(),
    environment: { DRAGOMAN_KEY: KEY },
    command: nodeLauncher(),
  });
  const runtime = runtimePid(program.pid);
  process.kill(program.pid, 'SIGKILL');
  await eventually(
    'the runtime ends too',
    () => !existsSync(`/proc/${runtime}`) || readFileSync(`/proc/${runtime}/stat`, 'utf8').includes(') Z '),
  );
  expect(await statusOf(program, KEY).catch(() => 'refused')).toBe('refused');
});

test.each([
  ['routing: { timeouts: { idle_ms: soon } }', 'routing.timeouts.idle_ms'],
  ['server: { prot: 4000 }', 'server.prot'],
  ['providers: { openai: { api_key: "${NO_SUCH_VARIABLE}" } }', 'providers.openai.api_key'],
])('a bad configuration ends the start with 2 and names the key: %s', async (text, path) => {
  const at = folder();
  writeFileSync(join(at, 'dragoman.yaml'), text);
  for (const args of [['serve', '--port', '0'], ['check']]) {
    const end = await runProgram(args, { folder: at });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toContain(path);
  }
});

test('a port in use is reported in one sentence, and creates no key', async () => {
  const at = folder();
  const other = await serve({ folder: folder(), environment: { DRAGOMAN_KEY: KEY } });
  const port = new URL(other.origin).port;
  const end = await runProgram(['serve', '--port', port], { folder: at });
  expect(end).toMatchObject({ code: 1, out: '' });
  expect(end.err).toStartWith(
    `dragoman serve: cannot listen on 127.0.0.1:${port}: the port is already in use`,
  );
  const next = await serve({ folder: at });
  await eventually('the first key is still to come', () => next.out().includes('first API key'));
});

test('a start that fails late ends the process', async () => {
  const at = folder();
  writeFileSync(join(at, 'a-file'), '');
  const database = await runProgram(['serve', '--port', '0', '--data-dir', 'a-file/data'], { folder: at });
  expect(database).toMatchObject({ code: 1, out: '' });
  expect(database.err).toContain('a-file/data');
  writeFileSync(join(at, 'dragoman.yaml'), 'models: [{ id: m, endpoints: [{ provider: nobody }] }]');
  const provider = await runProgram(['serve', '--port', '0'], { folder: at });
  expect(provider).toMatchObject({ code: 2, out: '' });
  expect(provider.err).toContain('models[0].endpoints[0].provider');
});

test('requests that still run at the end of the drain time get an error of their own protocol', async () => {
  const at = folder();
  writeFileSync(join(at, 'dragoman.yaml'), 'server: { drain_ms: 300 }');
  const program = await serve({ folder: at, environment: { DRAGOMAN_KEY: KEY } });
  const response = await chat(program, KEY, { model: 'sim/stall-after-20', stream: true });
  const stopped = program.stop();
  const text = await response.text();
  expect(text).toContain('data: {"error":{"message":"The gateway is shutting down."');
  expect(text).not.toContain('[DONE]');
  expect((await stopped).code).toBe(0);
});

test('a second signal, later, ends it at once', async () => {
  const program = await serve({ folder: folder(), environment: { DRAGOMAN_KEY: KEY } });
  const response = await chat(program, KEY, { model: 'sim/stall-after-20', stream: true });
  const cut = response.text().then(
    (text) => !text.includes('[DONE]'),
    () => true,
  );
  let ended = false;
  void program.exited.then(() => (ended = true));
  await eventually('it ends before the drain time of 30 s', () => {
    if (!ended) process.kill(program.pid, 'SIGTERM');
    return ended;
  });
  expect((await program.exited).code).toBe(143);
  expect(await cut).toBe(true);
});

test('with a shutdown delay, SIGTERM is announced at once and ends nothing yet', async () => {
  const at = folder();
  writeFileSync(join(at, 'dragoman.yaml'), 'server: { drain_delay_ms: 600000 }');
  const program = await serve({ folder: at, environment: { DRAGOMAN_KEY: KEY } });
  let ended = false;
  void program.exited.then(() => (ended = true));
  process.kill(program.pid, 'SIGTERM');
  await eventually('it says so', async () => {
    const answer = await fetch(`${program.origin}/readyz`);
    return answer.status === 503 && (await answer.text()).includes('"draining"');
  });
  expect(await statusOf(program, KEY)).toBe(200);
  await eventually('whoever cannot wait says so again', () => {
    void program.stop('SIGINT');
    return ended;
  });
  expect((await program.exited).code).toBe(130);
});

test('an unknown command or option is a usage error', async () => {
  const at = folder();
  expect(await runProgram(['sevre'], { folder: at })).toMatchObject({ code: 2, out: '' });
  const end = await runProgram(['serve', '--prot', '4'], { folder: at });
  expect(end.code).toBe(2);
  expect(end.err).toContain('--prot');
});

test('check prints what would be served', async () => {
  const at = folder();
  writeFileSync(join(at, 'other.yaml'), 'providers: { ollama: {} }\nmodels: [{ id: ollama/llama3 }]');
  const plain = await runProgram(['check', '--config', 'other.yaml'], { folder: at });
  expect(plain.code).toBe(0);
  expect(plain.out).toStartWith('other.yaml: valid, ');
  expect(plain.err).toBe('');
  const json = await runProgram(['check', '--json'], {
    folder: at,
    environment: {
      DRAGOMAN_CONFIG: 'other.yaml',
      GROQ_API_KEY: 'sk-test-groq',
      REDIS_URL: 'redis://r',
      // No models of it are listed, because they have the names of deployments.
      AZURE_OPENAI_API_KEY: 'azure-test',
      AZURE_OPENAI_ENDPOINT: 'https://resource.openai.azure.com',
    },
  });
  expect(json.err).toBe('');
  expect(JSON.parse(json.out)).toMatchObject({
    valid: true,
    path: 'other.yaml',
    providers: ['azure', 'groq', 'ollama', 'sim'],
  });
});

test('models lists the models of this configuration', async () => {
  const at = folder();
  const rows = JSON.parse((await runProgram(['models', 'SIM/', '--json'], { folder: at })).out) as {
    id: string;
    endpoints: string;
  }[];
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.every((row) => row.id.startsWith('sim/'))).toBe(true);
  const table = (await runProgram(['models', 'sim/messages'], { folder: at })).out;
  expect(table).toMatch(/^ID +CONTEXT +OUTPUT +REASONING +ENDPOINTS\nsim\/messages .*anthropic-messages/);
});

test('keys are created, listed and revoked, and a running gateway follows within two seconds', async () => {
  const at = folder();
  const program = await serve({ folder: at, environment: { DRAGOMAN_KEY: KEY } });
  const created = await runProgram(
    ['keys', 'create', 'ci', '--models', 'sim/echo,sim/chat', '--expires', '2999-01-31'],
    { folder: at },
  );
  expect(created.out).toMatch(/^sk-dm-v1-\w{49}\n$/);
  expect(created.err).toContain('only once');
  const key = created.out.trim();
  await eventually('the new key is accepted', async () => (await statusOf(program, key)) === 200);
  expect(await statusOf(program, key, 'sim/messages')).toBe(403);

  const listed = await runProgram(['keys', 'list'], { folder: at });
  expect(listed.out).toMatch(
    /key_\w+ +ci +own +sk-dm-v1-\S+ +active +\S+ +2999-01-31 +sim\/echo,sim\/chat +models +default *\n/,
  );
  expect(listed.out).not.toContain(key);

  const revoked = await runProgram(['keys', 'revoke', 'ci', '--json'], { folder: at });
  expect(JSON.parse(revoked.out)).toMatchObject({ name: 'ci', state: 'revoked' });
  await eventually('the revoked key is refused', async () => (await statusOf(program, key)) === 401);
  expect(await statusOf(program, KEY)).toBe(200);

  const unknown = await runProgram(['keys', 'revoke', 'nobody'], { folder: at });
  expect(unknown).toMatchObject({ code: 1, out: '' });
  expect(unknown.err).toContain('nobody');
});

test('projects and keys of the file are shown with the stored ones, and changed in the file alone', async () => {
  const at = folder();
  writeFileSync(
    join(at, 'dragoman.yaml'),
    'projects: { search: {} }\nkeys: [{ name: ci, key: sk-test-ci-of-the-file, project: search }]\n',
  );
  const run = (...args: string[]): ReturnType<typeof runProgram> => runProgram(args, { folder: at });
  const limits = ['--limit', '9 requests per minute', '--budget', '5 usd per day'];
  expect((await run('projects', 'create', 'shop', ...limits)).code).toBe(0);
  const made = await run('keys', 'create', 'till', '--project', 'shop', '--role', 'admin', '--json');
  expect(JSON.parse(made.out)).toMatchObject({ projectId: 'shop', roles: ['admin'], version: 1 });
  expect((await run('projects', 'list')).out).toMatch(
    /\nsearch +active +in the file\nshop +active +\S+ +9 requests per minute; 5 usd per day\n$/,
  );
  expect(JSON.parse((await run('keys', 'list', '--json')).out)).toMatchObject([
    { name: 'ci', source: 'file', projectId: 'search' },
    { name: 'till', source: 'database', projectId: 'shop' },
  ]);
  const refused = await run('keys', 'rotate', 'ci');
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('is defined in the configuration file. Change it there.');
  const moved = await run('keys', 'set', 'till', '--project', 'search');
  expect(moved.err).toContain('the project of a key cannot be changed');
});

test('a key is created with its own routing defaults, which are validated and shown', async () => {
  const at = folder();
  const create = (routing: string): ReturnType<typeof runProgram> =>
    runProgram(['keys', 'create', 'batch', '--routing', routing], { folder: at });
  expect((await create('type=round_robin,order=sim,groq,max_price.prompt=3')).code).toBe(0);
  const listed = await runProgram(['keys', 'list'], { folder: at });
  expect(listed.out).toMatch(/ROUTING\n.* +type=round_robin order=sim,groq max_price\.prompt=3\n$/);
  const rows = JSON.parse((await runProgram(['keys', 'list', '--json'], { folder: at })).out) as object[];
  expect(rows).toMatchObject([
    { routing: { type: 'round_robin', order: ['sim', 'groq'], max_price: { prompt: 3 } } },
  ]);

  await runProgram(['keys', 'revoke', 'batch'], { folder: at });
  const refused = await create('ignore=opnai');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toBe(
    'dragoman: --routing.ignore: "opnai" is not a provider or an endpoint (`provider/name`); did you mean "openai"?\n',
  );
  expect((await create('{"hedge": 1}')).err).toStartWith('dragoman: --routing.hedge: ');
});

test('flags beat the environment, which beats the file', async () => {
  const at = folder();
  writeFileSync(join(at, 'dragoman.yaml'), 'data_dir: from-file');
  const used = async (args: readonly string[], environment: Record<string, string>): Promise<string[]> => {
    await runProgram(['keys', 'list', ...args], { folder: at, environment });
    return ['from-file', 'from-environment', 'from-flag'].filter((name) =>
      existsSync(join(at, name, 'dragoman.db')),
    );
  };
  const variable = { DRAGOMAN_DATA_DIR: 'from-environment' };
  expect(await used(['--data-dir', 'from-flag'], variable)).toEqual(['from-flag']);
  expect(await used([], variable)).toEqual(['from-environment', 'from-flag']);
  expect(await used([], {})).toEqual(['from-file', 'from-environment', 'from-flag']);
});

test('flags for host and port take precedence over environment variables', async () => {
  const at = folder();
  const environment = { DRAGOMAN_KEY: KEY, DRAGOMAN_HOST: 'localhost' };
  const named = await serve({ folder: at, environment });
  expect(named.origin).toMatch(/^http:\/\/localhost:\d+$/);
  const flagged = await serve(
    { folder: folder(), environment: { ...environment, DRAGOMAN_PORT: '1' } },
    'serve',
    '--host',
    '127.0.0.1',
    '--port',
    '0',
  );
  expect(flagged.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('a changed file applies to new requests; an invalid one is refused and logged', async () => {
  const at = folder();
  const file = join(at, 'dragoman.yaml');
  const configured = (rest: string): string => `keys: [{ name: test, key: ${KEY} }]\n${rest}\n`;
  writeFileSync(file, configured('aliases: { one: sim/echo }'));
  const program = await serve({ folder: at });
  expect(await statusOf(program, KEY, 'one')).toBe(200);
  expect(await statusOf(program, KEY, 'two')).toBe(404);

  writeFileSync(file, configured('aliases: { two: sim/echo }'));
  await eventually('the new alias answers', async () => (await statusOf(program, KEY, 'two')) === 200);
  expect(await statusOf(program, KEY, 'one')).toBe(404);

  writeFileSync(file, configured('aliasses: { three: sim/echo }'));
  await eventually('the refusal is logged', () =>
    /was rejected; the previous one stays in use: .*aliasses/.test(program.err()),
  );
  expect(await statusOf(program, KEY, 'two')).toBe(200);

  writeFileSync(file, configured('aliases: { four: sim/echo }'));
  await eventually('a corrected file applies', async () => (await statusOf(program, KEY, 'four')) === 200);
});

test('the simulated provider runs alone', async () => {
  const program = await startProgram(['sim', '--port', '0'], { folder: folder() });
  undo.push(() => program.stop());
  const response = await fetch(`${program.origin}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Good morning' }] }),
  });
  const answer = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(answer.choices[0]?.message.content).toBe('Good morning');
  expect((await program.stop()).code).toBe(0);
});
