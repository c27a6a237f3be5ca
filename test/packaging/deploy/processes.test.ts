// The replicas of deploy/ without containers: what the manifests say is started here, with a real PostgreSQL, a real Valkey or
// Redis, and the real nginx in front, with the configuration that lies beside them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { freePort } from '../../support/free-port.ts';
import { eventually, freshFolder, startProgram, type Program } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { freshValkey, VALKEY_PROGRAM } from '../../support/servers/valkey.ts';
import { isWhole } from '../../support/share.ts';
import { composeReplicas, DEPLOY, kubernetesReplicas, type Replica } from './deployments.ts';

const ADMIN_KEY = 'sk-test-admin-0123456789';
const SECRET = 'ab'.repeat(32);
const NGINX = Bun.which('nginx', { PATH: `${process.env['PATH']}:/usr/sbin` });
if (NGINX === null) console.log('skipped: what deploy/nginx.conf does, because nginx is not installed');

/** Replicas with the values that their deployer puts in, as the two ways of doing so name them. */
const REPLICAS: Readonly<Record<string, () => readonly Replica[]>> = {
  compose: () =>
    composeReplicas({
      POSTGRES_PASSWORD: 'test',
      VALKEY_PASSWORD: 'test',
      DRAGOMAN_SECRET: SECRET,
      DRAGOMAN_ADMIN_KEY: ADMIN_KEY,
    }),
  // They differ in little: once in a while is enough.
  ...(isWhole && {
    Kubernetes: () =>
      kubernetesReplicas({
        'database-url': '',
        'redis-url': '',
        secret: SECRET,
        'admin-key': ADMIN_KEY,
      }),
  }),
};

interface Started extends Program {
  readonly replica: Replica;
}

describe.skipIf(POSTGRES_PROGRAMS === null || VALKEY_PROGRAM === null)('the processes of deploy/', () => {
  describe.each(Object.entries(REPLICAS))('for %s', (name, replicas) => {
    const { folder, remove } = freshFolder();
    let started: readonly Started[] = [];
    let nginx: ChildProcess | undefined;
    let front: string;
    let key: string;

    beforeAll(async () => {
      const [databaseUrl, valkey] = [await freshPostgres(), await freshValkey()];
      // All at once, as they are started there: one makes the tables, and the others wait for it.
      started = await Promise.all(
        replicas().map(async (replica) => {
          const home = join(folder, replica.name);
          mkdirSync(home);
          writeFileSync(join(home, 'dragoman.yaml'), replica.config);
          const [program, ...args] = replica.command;
          const here = {
            DRAGOMAN_HOST: '127.0.0.1',
            DRAGOMAN_PORT: '0',
            DRAGOMAN_CONFIG: join(home, 'dragoman.yaml'),
            DRAGOMAN_DATA_DIR: join(home, 'data'),
            DATABASE_URL: databaseUrl,
            REDIS_URL: valkey.url,
          };
          // Each of these is set there as well, but for the port, which is the usual one.
          const { DRAGOMAN_PORT: __, ...remote } = here;
          expect(Object.keys(replica.environment)).toEqual(
            expect.arrayContaining([...Object.keys(remote), 'DRAGOMAN_SECRET', 'DRAGOMAN_ADMIN_KEY']),
          );
          const environment = { PATH: process.env['PATH'] ?? '', ...replica.environment, ...here };
          return {
            ...(await startProgram(args, { folder: home, environment, command: [program] })),
            replica,
          };
        }),
      );
      if (NGINX !== null && name === 'compose') ({ nginx, front } = await startNginx(NGINX, folder, started));
      const made = await fetch(`${started[0]?.origin}/api/v1/management/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'test', roles: ['models'] }),
      });
      expect(made.status).toBe(201);
      ({ key } = (await made.json()) as { key: string });
    });
    afterAll(async () => {
      nginx?.kill('SIGTERM');
      // Nobody has to notice any more.
      await Promise.all(started.map((each) => each.stop('SIGINT')));
      remove();
    });

    const client = (origin: string): OpenAI =>
      new OpenAI({ apiKey: key, baseURL: `${origin}/v1`, maxRetries: 0 });

    test('are healthy according to the checks of the manifests', async () => {
      for (const { origin, replica } of started)
        for (const check of replica.checks) {
          if ('path' in check) {
            expect((await fetch(origin + check.path)).status).toBe(200);
            continue;
          }
          const command = [...check.command, '--url', origin];
          expect({ command, ...exitOf(command) }).toEqual({ command, exitCode: 0 });
          // It would notice: nobody listens there.
          expect(exitOf([...check.command, '--url', 'http://127.0.0.1:1']).exitCode).toBe(1);
        }
    });

    test('answer as one gateway', async () => {
      const [first] = started;
      const made = await client(first?.origin ?? '').responses.create({
        model: 'sim/echo',
        input: 'hello',
      });
      for (const { origin } of started) {
        // A new key is known everywhere within two seconds.
        await eventually(
          'the key is known',
          async () => (await fetch(`${origin}/v1/models`, bearer(key))).ok,
        );
        expect((await client(origin).responses.retrieve(made.id)).output_text).toBe(made.output_text);
        const chat = await client(origin).chat.completions.create({
          model: 'sim/echo',
          messages: [{ role: 'user', content: 'hello' }],
        });
        expect(chat.choices[0]?.message.content).toContain('hello');
      }
    });

    // Kubernetes has a Service of its own for that.
    test.skipIf(NGINX === null || name !== 'compose')(
      'are replaced behind nginx without interrupting a stream, and the others keep serving',
      async () => {
        const [leaving] = started;
        const ask = (model: string, stream: boolean): Promise<Response> =>
          fetch(`${front}/v1/chat/completions`, {
            method: 'POST',
            ...bearer(key),
            body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello' }] }),
          });
        // All of them run when it is told to end.
        const streams = await Promise.all(Array.from({ length: 6 }, () => ask('sim/paced-20', true)));
        const ended = leaving?.stop();
        for (const stream of streams) {
          expect(stream.status).toBe(200);
          expect(await stream.text()).toEndWith('data: [DONE]\n\n');
        }
        expect((await ended)?.code).toBe(0);
        for (let times = 0; times < 6; times += 1) expect((await ask('sim/echo', false)).status).toBe(200);
      },
    );
  });
});

const bearer = (key: string) => ({
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
});

function exitOf([program = '', ...args]: readonly string[]): { readonly exitCode: number } {
  const { exitCode } = Bun.spawnSync([program, ...args]);
  return { exitCode };
}

/** Starts it with the shipped configuration, in which names and ports are replaced by those of here. */
async function startNginx(
  program: string,
  folder: string,
  started: readonly Started[],
): Promise<{ readonly nginx: ChildProcess; readonly front: string }> {
  const port = await freePort();
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = places.map((place) => `${place}_temp_path ${folder}/nginx-${place};`).join(' ');
  let text = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('worker_processes auto', 'worker_processes 1')
    .replace('/tmp/nginx.pid', `${folder}/nginx.pid`)
    .replace('/dev/stderr', 'stderr')
    .replace('http {', `http { ${temporary}`);
  for (const { origin, replica } of started)
    text = text.replace(`${replica.name}:4000`, new URL(origin).host);
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, text);
  const nginx = spawn(
    'setpriv',
    ['--pdeathsig=TERM', program, '-e', 'stderr', '-c', path, '-g', 'daemon off;'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const front = `http://127.0.0.1:${port}`;
  await eventually('nginx listens', () =>
    fetch(`${front}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { nginx, front };
}
