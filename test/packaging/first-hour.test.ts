// Eight questions of an operator's first day, answered by what the documents say and nothing else: the commands and configurations
// are taken from the pages and run, with addresses and paths of here in place of those of the pages.
import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificates } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import {
  eventually,
  freshFolder,
  runProgram,
  startProgram,
  type Finished,
  type Program,
} from '../support/program.ts';
import { CHAT_ENDING, CHAT_OPENING, chatChunk, opened, whole } from '../support/upstreams/answers.ts';
import { dialect } from '../support/upstreams/dialects.ts';
import { startUpstream } from '../support/upstreams/scripted-upstream.ts';
import { undoAfterAll } from '../support/undo.ts';
import { StreamReading } from '../support/upstreams/gateway-with-upstreams.ts';

const ROOT = join(import.meta.dir, '../..');
const DOCUMENTED = 'http://127.0.0.1:4000';
const undo = undoAfterAll();

/** The blocks of a page in a language, in order. */
function blocks(page: string, language: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const fence = new RegExp(`^\`\`\`${language}(?: test)?\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(fence)].map(([, code = '']) => code);
}

/** The first block that holds these words. */
function block(page: string, language: string, words: string): string {
  const found = blocks(page, language).find((code) => code.includes(words));
  if (found === undefined) throw new Error(`${page} has no ${language} block with ${words}`);
  return found;
}

/** A folder of somebody who follows the pages, with the `npx` of the package. */
function desk(): {
  readonly folder: string;
  readonly run: (script: string, more?: object) => Promise<Finished>;
} {
  const { folder, remove } = freshFolder();
  undo.push(remove);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const launcher = join(ROOT, 'bin', 'dragoman.mjs');
  const npx = `#!/bin/sh\n[ "$1 $2" = "--no dragoman" ] && shift 2 && exec node ${launcher} "$@"\n`;
  writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 });
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
  const run = (script: string, more: object = {}): Promise<Finished> =>
    runProgram(['-euo', 'pipefail', '-c', script], {
      folder,
      environment: { PATH, NO_COLOR: '1', ...more },
      command: ['bash'],
    });
  return { folder, run };
}

async function serve(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Program> {
  const program = await startProgram(['serve', '--port', '0'], { folder, environment });
  undo.push(() => program.stop('SIGINT'));
  return program;
}

function ask(origin: string, key: string, model: string): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'What is 6 x 7?' }] }),
  });
}

const succeeded = ({ code, out, err }: Finished): string => {
  expect(code === 0 ? '' : out + err).toBe('');
  return out;
};

const certificates = makeCertificates(['gateway.example']);
if (certificates) undo.push(() => certificates.remove());

/** A proxy in front, started with the block of the page. */
interface FrontProxy {
  readonly name: string;
  readonly program: string | null;
  /** Writes the page's configuration with the places of here. @returns arguments of the program */
  readonly configure: (folder: string, port: number, gatewayHost: string) => readonly string[];
}

const withCertificate = (config: string): string =>
  config
    .replace('/etc/dragoman/fullchain.pem', certificates?.path('gateway.example.pem') ?? '')
    .replace('/etc/dragoman/privkey.pem', certificates?.path('gateway.example.key') ?? '');

const FRONT_PROXIES: readonly FrontProxy[] = [
  {
    name: 'nginx',
    program: Bun.which('nginx', { PATH: `${process.env['PATH']}:/usr/sbin` }),
    configure(folder, port, gatewayHost) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join(' ');
      const config = withCertificate(block('docs/tls.md', 'nginx', 'listen 443 ssl'))
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace('127.0.0.1:4000', gatewayHost)
        .replace('http {', `pid ${folder}/nginx.pid;\nhttp { access_log off; ${temporary}`);
      writeFileSync(join(folder, 'nginx.conf'), config);
      return ['-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
    },
  },
  {
    name: 'Caddy',
    program: Bun.which('caddy'),
    configure(folder, port, gatewayHost) {
      // It would ask an authority for its certificate.
      const own = withCertificate('tls /etc/dragoman/fullchain.pem /etc/dragoman/privkey.pem');
      const config = block('docs/tls.md', 'caddy', 'reverse_proxy')
        .replace('gateway.example {', `https://gateway.example:${port} {\n  bind 127.0.0.1\n  ${own}`)
        .replace('127.0.0.1:4000', gatewayHost);
      writeFileSync(
        join(folder, 'Caddyfile'),
        `{\n  admin off\n  auto_https disable_redirects\n}\n${config}`,
      );
      return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
];

for (const { name, program, configure } of FRONT_PROXIES) {
  const isMissing = program === null || certificates === null;
  const skipped = isMissing ? ` (skipped: ${name} or openssl is not installed)` : '';
  test.skipIf(isMissing)(`How do I run it behind TLS? ${name}${skipped}`, async () => {
    const { folder } = desk();
    const upstream = await startUpstream();
    undo.push(() => upstream.stop());
    const providers = { house: { preset: 'vllm', base_url: `${upstream.origin}/v1` } };
    writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ providers }));
    const gateway = await serve(folder, { DRAGOMAN_KEY: 'sk-test' });
    const port = await freePort();
    const args = configure(folder, port, new URL(gateway.origin).host);
    const environment = { PATH: process.env['PATH'], HOME: folder };
    const proxy = spawn(program ?? '', args, { stdio: 'ignore', env: environment });
    undo.push(() => proxy.kill('SIGTERM'));
    const address = { host: '127.0.0.1', port, servername: 'gateway.example' };
    const tls = {
      ca: certificates?.read('ca.pem') ?? '',
      serverName: 'gateway.example',
      checkServerIdentity: () => undefined,
    };
    const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`https://${address.host}:${port}${path}`, {
        ...init,
        tls,
        headers: {
          host: `gateway.example:${port}`,
          authorization: 'Bearer sk-test',
          'content-type': 'application/json',
        },
      });
    await eventually(`${name} serves`, () =>
      ask('/readyz').then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    upstream.script(opened(CHAT_OPENING + chatChunk({ content: 'The first words' })));
    const answered = ask('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({
        model: 'house/m',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    const exchange = await upstream.arrived(1);
    const reading = new StreamReading(await answered);
    // The upstream goes on only when the client has the first words.
    await reading.until('The first words');
    exchange.chunk(chatChunk({ content: ', and the last' }) + CHAT_ENDING);
    exchange.endStream();
    expect(await reading.rest()).toEndWith('data: [DONE]\n\n');
  });
}

test('How do I run it in a container?', () => {
  const [build = '', run = ''] = block('docs/install.md', 'sh', 'docker build').split(/\n(?=docker)/);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(readme).toContain(build);
  for (const flag of [
    '--read-only',
    '--tmpfs /tmp',
    '--volume dragoman:/data',
    '--publish 127.0.0.1:4000:4000',
  ])
    expect(run).toContain(flag);
  // The named file exists; test/packaging/deploy/image.test.ts builds and runs it.
  const [, file = ''] = /--file (\S+)/.exec(build) ?? [];
  expect(existsSync(join(ROOT, file))).toBe(true);
  expect(run.trimEnd().split('\n')[1]).toEndWith('dragoman:0.1.0');
});

test('How do I put a budget before a vLLM of my own?', async () => {
  const { folder, run } = desk();
  const upstream = await startUpstream();
  undo.push(() => upstream.stop());
  upstream.always(whole(dialect('openai-chat', 'm').whole('42')));
  const config = block('README.md', 'yaml', 'preset: vllm').replace('http://10.0.0.5:8000', upstream.origin);
  writeFileSync(join(folder, 'dragoman.yaml'), config);
  const gateway = await serve(folder);
  const made = block('README.md', 'sh', "--budget '20 usd per month'");
  const key = succeeded(await run(made)).trim();
  const asked = async (model: string, secret: string): Promise<Response> =>
    ask(gateway.origin, secret, model);
  await eventually('the key is known', async () => (await asked('my-vllm/gpt-oss-120b', key)).status === 200);
  // A model without a price is refused, and the refusal says what to do.
  const refused = await asked('my-vllm/other', key);
  expect(refused.status).toBe(402);
  const text = await refused.text();
  for (const remedy of ['price: { input: 0, output: 0 }', 'catalog.refresh', 'unpriced allow'])
    expect(text).toContain(remedy);
  const allowing = block('docs/troubleshooting.md', 'sh', '--unpriced allow');
  const other = succeeded(await run(allowing)).trim();
  await eventually(
    'the other key is known',
    async () => (await asked('my-vllm/other', other)).status === 200,
  );
  const lonely = await run('npx --no dragoman keys create x --unpriced allow');
  expect(lonely).toMatchObject({ code: 1 });
  expect(lonely.err).toContain('set --budget, too');
});

test('How do I add a server of my own to a gateway that already runs?', async () => {
  const { folder } = desk();
  const upstream = await startUpstream();
  undo.push(() => upstream.stop());
  upstream.always(whole(dialect('openai-chat', 'm').whole('42')));
  const gateway = await serve(folder, { DRAGOMAN_KEY: 'sk-test' });
  const asked = async (): Promise<number> =>
    (await ask(gateway.origin, 'sk-test', 'my-vllm/gpt-oss-120b')).status;
  expect(await asked()).toBe(404);
  const config = block('README.md', 'yaml', 'preset: vllm').replace('http://10.0.0.5:8000', upstream.origin);
  writeFileSync(join(folder, 'dragoman.yaml'), config);
  await eventually('the new file is in use', async () => (await asked()) === 200);
});

test('How do I give a colleague a key with $20?', async () => {
  const { folder, run } = desk();
  const gateway = await serve(folder);
  const key = succeeded(await run(block('README.md', 'sh', "--budget '20 usd per month'"))).trim();
  // At once: the gateway looks for a key that it does not know.
  expect((await ask(gateway.origin, key, 'sim/chat')).status).toBe(200);
  const boss = succeeded(await run('npx --no dragoman keys create boss --role admin')).trim();
  const headers = { authorization: `Bearer ${boss}` };
  expect((await fetch(`${gateway.origin}/v1/management/keys`, { headers })).status).toBe(200);
  const shown = succeeded(await run('npx --no dragoman keys show colleague'));
  expect(shown).toContain('20 usd per month');
});

test('Why did a request fail?', async () => {
  const { folder, run } = desk();
  const gateway = await serve(folder, { DRAGOMAN_KEY: 'sk-test' });
  const script = block('docs/troubleshooting.md', 'sh', '/v1/generation?id=$id')
    .replaceAll(DOCUMENTED, gateway.origin)
    .replace('sim/chat', 'sim/error-500');
  const record: unknown = JSON.parse(succeeded(await run(script, { DRAGOMAN_KEY: 'sk-test' })));
  // The page says that `attempts` has each try, its outcome and its times.
  expect(record).toMatchObject({ attempts: expect.any(Array), state: 'failed', status: 500 });
});

test('How do I upgrade, and how do I back up and restore?', async () => {
  const { folder, run } = desk();
  const gateway = await serve(folder);
  const key = succeeded(await run('npx --no dragoman keys create kept')).trim();
  await eventually('it works', async () => (await ask(gateway.origin, key, 'sim/chat')).status === 200);
  // Upgrade: backup and check, stop, the new version, start.
  succeeded(await run(block('docs/upgrade.md', 'sh', 'backup backups/before')));
  await gateway.stop();
  const next = await serve(folder);
  expect((await ask(next.origin, key, 'sim/chat')).status).toBe(200);
  // Backup while it runs, then restore into an empty data directory.
  const [backup = '', verify = '', restore = ''] = block('docs/backup.md', 'sh', 'backups/monday').split(
    '\n',
  );
  succeeded(await run(`${backup}\n${verify}`));
  await next.stop();
  succeeded(await run(`mv data data.old\n${restore}`));
  const restored = await serve(folder);
  expect((await ask(restored.origin, key, 'sim/chat')).status).toBe(200);
  expect(restored.out()).not.toContain('first API key');
});
