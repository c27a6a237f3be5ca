// The program behind a proxy: what its commands say and ask, credentials that are fetched, and a proxy that others wrote
// (tinyproxy), where it is installed.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../../support/certificates.ts';
import { startGateway } from '../../support/harness.ts';
import { eventually, runProgram } from '../../support/program.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { startProxy, type TestProxy } from '../../support/upstreams/proxy.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { freePort } from '../../support/free-port.ts';

const HOST = 'models.example';

let proxy: TestProxy;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
const upstream = await startUpstream();
beforeEach(async () => {
  upstream.always(whole(chatBody({ text: 'hi' })));
  proxy = await startProxy({ [`${HOST}:80`]: upstream.port });
});
afterEach(() => proxy.stop());
afterAll(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

function configured(provider: object = {}): string {
  const path = join(folder, 'dragoman.yaml');
  const one = { api_key: 'none', protocols: { 'openai-chat': `http://${HOST}/v1` }, ...provider };
  const config = {
    data_dir: join(folder, 'data'),
    providers: { sim: false, one },
    models: [{ id: 'one/m' }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

describe('commands', () => {
  test('check shows the proxy of a provider, and refuses an invalid one, without its password', async () => {
    const environment = { HTTP_PROXY: 'http://ann:secret-word@proxy.example:3128' };
    const args = ['check', '--config', configured()];
    const plain = await runProgram(args, { folder, environment });
    expect([plain.code, plain.out]).toEqual([
      0,
      expect.stringContaining('one: through http://proxy.example:3128\n') as string,
    ]);
    const json = await runProgram([...args, '--json'], { folder, environment });
    expect(JSON.parse(json.out)).toMatchObject({ proxies: { one: 'http://proxy.example:3128' } });
    const wrong = { HTTP_PROXY: 'socks5://ann:secret-word@proxy.example:3128' };
    const refused = await runProgram(args, { folder, environment: wrong });
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('HTTP_PROXY') as string]);
    expect(plain.out + json.out + refused.out + refused.err).not.toContain('secret-word');
  });

  test('doctor uses the proxy', async () => {
    const config = configured();
    const environment = { HTTP_PROXY: proxy.address() };
    const { out } = await runProgram(['doctor', '--config', config, '--yes'], {
      folder,
      environment,
    });
    expect(out).toContain('one');
    expect(proxy.asked[0]).toBe(`POST http://${HOST}/v1/chat/completions`);
  });
});

describe('credentials that are fetched', () => {
  const TOKEN = whole({ access_token: 'fetched-token-1', expires_in: 3600, token_type: 'Bearer' });
  const CHAT = { model: 'azure/m', messages: [{ role: 'user', content: 'hello' }] };

  test('of a token service are fetched through the proxy of the provider; those of the machine directly', async () => {
    const issuer = await startUpstream();
    issuer.always(TOKEN);
    const tokens = await startProxy({ 'login.example:80': issuer.port, [`${HOST}:80`]: upstream.port });
    const provider = { resource: `http://${HOST}`, proxy: tokens.address() };
    const application = { tenant_id: 't', client_id: 'c', client_secret: 'secret-of-c' };
    const askWith = async (given: object, environment: Record<string, string>): Promise<number> => {
      const gateway = await startGateway(
        { providers: { azure: { ...provider, ...given } } },
        { environment },
      );
      const { status } = await gateway.post('/chat/completions', CHAT);
      await gateway.close();
      return status;
    };
    expect(await askWith(application, { AZURE_AUTHORITY_HOST: 'http://login.example' })).toBe(200);
    expect(tokens.asked[0]).toBe('POST http://login.example/t/oauth2/v2.0/token');
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer fetched-token-1');

    const machine = { IDENTITY_ENDPOINT: `${issuer.origin}/token`, IDENTITY_HEADER: 'header-1' };
    expect(await askWith({ credentials: 'instance' }, machine)).toBe(200);
    expect(issuer.requests).toHaveLength(2);
    expect(tokens.asked.filter((one) => !one.includes(HOST))).toHaveLength(1);
    await Promise.all([issuer.stop(), tokens.stop()]);
  });
});

const made = makeCertificates(['localhost']);
const TINYPROXY = made && Bun.which('tinyproxy');
if (!TINYPROXY)
  console.log(
    'SKIP test/socket/upstream/proxy-commands.test.ts, tinyproxy: it, or openssl, is not on this machine',
  );
afterAll(() => made?.remove());

describe.skipIf(!TINYPROXY)('tinyproxy', () => {
  let running: ChildProcess | undefined;
  let secure: ScriptedUpstream;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const config = join(folder, 'tinyproxy.conf');
    const lines = [
      `Port ${port}`,
      'Listen 127.0.0.1',
      'Timeout 60',
      `LogFile "${join(folder, 'tinyproxy.log')}"`,
      'BasicAuth ann secretword',
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    running = spawn(TINYPROXY ?? '', ['-d', '-c', config], { stdio: 'ignore' });
    await eventually('tinyproxy listens', () => isListening(port));
    secure = await startUpstream({ cert: made?.read('localhost.pem'), key: made?.read('localhost.key') });
  });
  afterAll(async () => {
    running?.kill();
    await secure.stop();
  });

  test.each([
    ['http', 'ann:secretword', 200, ''],
    ['https', 'ann:secretword', 200, ''],
    ['http', '', 502, 'its proxy requires a user name and a password (status 407)'],
    ['https', 'ann:wrong', 502, 'rejected the configured user name and password (status 401)'],
    ['https', '', 502, 'its proxy requires a user name and a password (status 407)'],
  ])('passes %s as "%s" on: %p', async (scheme, user, status, words) => {
    const place = scheme === 'http' ? upstream : secure;
    place.always(whole(chatBody({ text: 'hi' })));
    const gateway = await startGateway({
      upstream: { ca: made?.path('ca.pem') },
      routing: { retries: 0 },
      providers: {
        one: {
          protocols: { 'openai-chat': `${scheme}://localhost:${place.port}/v1` },
          proxy: `http://${user === '' ? '' : `${user}@`}127.0.0.1:${port}`,
        },
      },
      models: [{ id: 'one/m' }],
    });
    for (let time = 0; time < 2; time++) {
      const answer = await gateway.post('/chat/completions', {
        model: 'one/m',
        messages: [{ role: 'user', content: `hello ${time}` }],
      });
      const text = await answer.text();
      expect(answer.status).toBe(status);
      expect(text).toContain(words);
    }
    await gateway.close();
    expect(place.requests).toHaveLength(status === 200 ? 2 : 0);
  });
});

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
