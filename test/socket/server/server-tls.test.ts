// HTTPS of the gateway itself, as clients and operators meet it: who is served, which certificate is shown after its files
// changed, and what a wrong pair does. The certificates are made with openssl; without it the suite is skipped.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureVersion } from 'node:tls';
import OpenAI from 'openai';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually, runProgram, startProgram } from '../../support/program.ts';
import { SocketClient } from '../../support/socket-client.ts';
import { undoAfterEach } from '../../support/undo.ts';

/** How long some connections may still get the old certificate. */
const HANDOVER_MS = 5000;

const first = makeCertificates(['localhost']);
const renewed = first && makeCertificates(['localhost']);
if (!first) console.log('SKIP test/socket/server/server-tls.test.ts: there is no openssl on this machine');
const CA = [first, renewed].map((made) => made?.read('ca.pem') ?? '').join('\n');

let folder: string;
let files: { readonly cert: string; readonly key: string };
const undo = undoAfterEach();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-server-tls-'));
  files = { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') };
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  install(first);
});
afterAll(() => [first, renewed].forEach((made) => made?.remove()));

/** Puts a pair where the gateway reads it. */
function install(made: typeof first): void {
  for (const [from, to] of [
    ['localhost.pem', files.cert],
    ['localhost.key', files.key],
  ] as const) {
    copyFileSync(made?.path(from) ?? '', to);
    chmodSync(to, 0o600);
  }
}

async function start(clock?: Clock): Promise<TestGateway> {
  const gateway = await startGateway(
    { server: { host: 'localhost', tls: files }, logging: { level: 'info' } },
    clock && { clock },
  );
  undo.push(() => gateway.close());
  return gateway;
}

/** How a start ended: `started`, or the error. */
function outcome(starting: Promise<unknown>): Promise<string> {
  return starting.then(() => 'started', String);
}

/** A client of the official SDK that trusts the authorities of these tests. */
function sdk(baseURL: string): OpenAI {
  const trusting = (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
    fetch(url, { ...init, tls: { ca: CA } });
  return new OpenAI({ apiKey: TEST_KEY, baseURL, maxRetries: 0, fetch: trusting as typeof fetch });
}

/**
 * Opens a connection and keeps it.
 * @returns asks for something on it: the status, and whether the connection stays
 */
async function keptConnection(origin: string): Promise<() => Promise<string>> {
  const { port } = new URL(origin);
  const socket = connect({ host: 'localhost', servername: 'localhost', port: Number(port), ca: CA });
  undo.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  return async () => {
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [head] = (await once(socket, 'data')) as [Buffer];
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(head.toString()) ?? [];
    return `${status} ${/^connection: close/im.test(head.toString()) ? 'close' : 'keep-alive'}`;
  };
}

const messages = [{ role: 'user' as const, content: 'Hello!' }];

/** The serial number of the certificate that a new connection gets, and the version of TLS; else why there is none. */
function shownAt(origin: string, version?: SecureVersion): Promise<string> {
  const { port } = new URL(origin);
  const versions = version && { minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const socket = connect({
      host: 'localhost',
      servername: 'localhost',
      port: Number(port),
      ca: CA,
      ...versions,
    });
    socket.once('secureConnect', () => {
      resolve(`${socket.getPeerCertificate().serialNumber} ${socket.getProtocol()}`);
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.message));
  });
}

describe.skipIf(!first)('the gateway over TLS', () => {
  test('prints an https address, and serves the official SDK', async () => {
    const config = join(folder, 'dragoman.yaml');
    writeFileSync(config, JSON.stringify({ server: { host: 'localhost', port: 0, tls: files } }));
    const program = await startProgram(['serve', '--config', config], {
      folder,
      environment: { DRAGOMAN_KEY: TEST_KEY },
    });
    undo.push(() => program.stop());
    expect(program.out()).toMatch(/^listening on https:\/\/localhost:\d+\n/);
    const client = sdk(`${program.origin}/v1`);
    const whole = await client.chat.completions.create({ model: 'sim/echo', messages });
    expect(whole.choices[0]?.message.content).toBe('Hello!');
    let text = '';
    const stream = await client.responses.create({ model: 'sim/echo', input: 'Hello!', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    expect(text).toBe('Hello!');
  });

  test('serves WebSockets', async () => {
    const gateway = await start();
    await using socket = await SocketClient.open(gateway.origin, {}, '/v1/responses', CA);
    const turn = await socket.turn({ model: 'sim/echo', input: 'Hello!' });
    expect(turn.at(-1)?.['type']).toBe('response.completed');
  });

  test('accepts TLS 1.2 and 1.3, nothing older, and no plain HTTP', async () => {
    const { origin } = await start();
    expect(await shownAt(origin, 'TLSv1.2')).toEndWith(' TLSv1.2');
    expect(await shownAt(origin, 'TLSv1.3')).toEndWith(' TLSv1.3');
    for (const old of ['TLSv1', 'TLSv1.1'] as const)
      expect(await shownAt(origin, old)).toMatch(/protocol.version/i);
    const plain = await fetch(origin.replace('https', 'http')).catch((error: unknown) => String(error));
    expect(plain).toBeString();
  });

  test('shows a new pair to new connections; answers and WebSockets go on', async () => {
    const clock = new ManualClock();
    const gateway = await start(clock);
    const before = await shownAt(gateway.origin);
    await using socket = await SocketClient.open(gateway.origin, {}, '/v1/responses', CA);
    const stream = await sdk(gateway.baseURL).chat.completions.create({
      model: 'sim/paced-40',
      messages: [{ role: 'user', content: 'write 20 words' }],
      stream: true,
    });
    let finish: string | null = null;
    let after = before;
    for await (const { choices } of stream) {
      finish = choices[0]?.finish_reason ?? finish;
      if (after !== before) continue;
      install(renewed);
      gateway.reload();
      clock.advance(HANDOVER_MS);
      after = await shownAt(gateway.origin);
    }
    expect(after).not.toBe(before);
    expect(finish).toBe('stop');
    const turn = await socket.turn({ model: 'sim/echo', input: 'Hello!' });
    expect(turn.at(-1)?.['type']).toBe('response.completed');
    const answer = await sdk(gateway.baseURL).chat.completions.create({ model: 'sim/echo', messages });
    expect(answer.choices[0]?.message.content).toBe('Hello!');
  });

  test('ends connections with the old certificate after a response, and interrupts none', async () => {
    const clock = new ManualClock();
    const gateway = await start(clock);
    const before = await shownAt(gateway.origin);
    const ask = await keptConnection(gateway.origin);
    expect(await ask()).toBe('200 keep-alive');
    install(renewed);
    gateway.reload();
    await eventually('the new pair is shown', async () => (await shownAt(gateway.origin)) !== before);
    expect(await ask()).toBe('200 close');
    clock.advance(HANDOVER_MS);
    const shown = await Promise.all(Array.from({ length: 20 }, () => shownAt(gateway.origin)));
    expect(shown).not.toContain(before);
  });

  test('follows the files; a broken pair is refused and logged, and the old one stays', async () => {
    const gateway = await start();
    const before = await shownAt(gateway.origin);
    const logged = (): string => gateway.logLines.join('');
    copyFileSync(renewed?.path('localhost.pem') ?? '', files.cert);
    await eventually('the half pair is refused', () =>
      logged().includes(
        'the changed certificate is invalid and was rejected; the previous one stays in use: server.tls.key',
      ),
    );
    expect(await shownAt(gateway.origin)).toBe(before);
    copyFileSync(renewed?.path('localhost.key') ?? '', files.key);
    await eventually('the whole pair is shown', async () => (await shownAt(gateway.origin)) !== before);
    expect(logged()).toContain('certificate 2 is in use');
    expect(logged()).not.toContain('PRIVATE KEY');
  });

  test('keeps its port to itself, also after a change', async () => {
    const gateway = await start();
    const { port } = new URL(gateway.origin);
    const second = (): Promise<string> =>
      outcome(
        startGateway(
          { server: { host: 'localhost', port: Number(port), tls: files } },
          { dataDir: join(folder, 'second') },
        ),
      );
    expect(await second()).toContain('the port is already in use');
    install(renewed);
    gateway.reload();
    expect(await second()).toContain('the port is already in use');
  });

  test('after a stop nothing listens, even if the certificate changes', async () => {
    const gateway = await start();
    await gateway.close();
    undo.pop();
    install(renewed);
    gateway.reload();
    expect(await shownAt(gateway.origin)).toMatch(/refused/i);
  });

  test.each([
    ['no file', 'cert', () => rmSync(files.cert), 'cannot read'],
    [
      'no certificate in it',
      'cert',
      () => writeFileSync(files.cert, 'certificate'),
      'contains no certificate',
    ],
    [
      'a damaged chain',
      'cert',
      () =>
        writeFileSync(
          files.cert,
          `${readFileSync(files.cert, 'utf8')}-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n`,
        ),
      'certificate 2 in',
    ],
    ['no key', 'key', () => rmSync(files.key), 'cannot read'],
    ['no key in it', 'key', () => writeFileSync(files.key, 'key'), 'contains no private key'],
    [
      "another certificate's key",
      'key',
      () => copyFileSync(first?.path('ca.key') ?? '', files.key),
      'does not match',
    ],
    [
      'a key under a passphrase',
      'key',
      () =>
        writeFileSync(
          files.key,
          '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n',
        ),
      'passphrase',
    ],
  ] as const)('does not start with %s', async (_, part, spoil, words) => {
    spoil();
    const failed = await outcome(start());
    expect(failed).toContain(`server.tls.${part}: `);
    expect(failed).toContain(words);
  });

  test('a wrong pair ends the start with 2, and `check` finds it', async () => {
    rmSync(files.key);
    writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ server: { tls: files } }));
    for (const command of ['serve', 'check']) {
      const end = await runProgram([command], { folder });
      expect(end).toMatchObject({ code: 2, out: '' });
      expect(end.err).toContain(`server.tls.key: cannot read ${files.key}`);
    }
  });

  test('warns of a key that others can read, and of a certificate that has expired', async () => {
    chmodSync(files.key, 0o644);
    const gateway = await start();
    expect(gateway.logLines.join('')).toContain(`${files.key} is accessible to other users (mode 0644)`);
    chmodSync(files.key, 0o640);
    gateway.logLines.length = 0;
    gateway.reload();
    expect(gateway.logLines.join('')).not.toContain('is accessible to other users');

    const later = await start({ ...systemClock, wall: () => Date.now() + 1000 * 24 * 3_600_000 });
    expect(later.logLines.join('')).toContain(`server.tls.cert: ${files.cert} has expired`);
  });
});
