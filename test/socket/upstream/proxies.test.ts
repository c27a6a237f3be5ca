// Upstreams behind a proxy: where requests go, what each side is told, and what a hostile proxy gets. The proxy is a
// scripted one on real sockets; certificates are made with openssl, without which those tests are skipped.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { UpstreamClient, Destination } from '../../../src/upstream/client.ts';
import {
  makeNetworkRoute,
  parseProxy,
  DIRECT,
  type NetworkRoute,
} from '../../../src/upstream/network-route.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { chatBody, chatChunk, CHAT_ENDING, stream, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startProxy, type Misbehaviour, type TestProxy } from '../../support/upstreams/proxy.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';

const HOST = 'models.example';
const USER = 'operator:p%40ss-word-1';
/** Base64 of `operator:p@ss-word-1`. */
const PROOF = 'Basic b3BlcmF0b3I6cEBzcy13b3JkLTE=';
const SECRETS = ['p%40ss-word-1', 'p@ss-word-1', 'b3BlcmF0b3I6cEBzcy13b3JkLTE='];

const made = makeCertificates([HOST, 'other.example', 'localhost', 'client', 'pictures.example']);
if (!made) console.log('SKIP test/socket/upstream/proxies.test.ts, TLS: there is no openssl on this machine');
const pem = (name: string): { cert: string; key: string } => ({
  cert: made?.read(`${name}.pem`) ?? '',
  key: made?.read(`${name}.key`) ?? '',
});

let proxy: TestProxy;
let secureProxy: TestProxy | undefined;
let gateway: TestGateway | undefined;

const plain = await startUpstream();
const secure = await startUpstream(made ? pem(HOST) : undefined);
const imposter = await startUpstream(made ? pem('other.example') : undefined);
const pictures = await startUpstream(made ? pem('pictures.example') : undefined);
const strict = await startUpstream(
  made ? { ...pem(HOST), ca: made.read('ca.pem'), requestCert: true, rejectUnauthorized: true } : undefined,
);
beforeEach(async () => {
  for (const upstream of [plain, secure, strict, imposter, pictures])
    upstream.always(whole(chatBody({ text: 'hi' })));
  const ports = {
    [`${HOST}:80`]: plain.port,
    [`${HOST}:443`]: secure.port,
    [`${HOST}:8443`]: strict.port,
    [`${HOST}:9443`]: imposter.port,
    '93.184.215.14:80': plain.port,
    '93.184.215.14:443': pictures.port,
  };
  proxy = await startProxy(ports);
  secureProxy = made ? await startProxy(ports, pem('localhost')) : undefined;
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await Promise.all([proxy.stop(), secureProxy?.stop()]);
});
afterAll(async () => {
  await Promise.all([plain, secure, strict, imposter, pictures].map((upstream) => upstream.stop()));
  made?.remove();
});

/** Starts a gateway with one provider at this origin. */
async function start(
  origin: string,
  provider: object = {},
  environment: Record<string, string> = {},
  options: { clock?: ArmedClock; config?: object } = {},
): Promise<TestGateway> {
  const { clock, config } = options;
  gateway = await startGateway(
    {
      upstream: made ? { ca: made.path('ca.pem') } : {},
      // A busy machine is no proxy that is silent.
      routing: { retries: 0, breaker: { failures: 1000 }, timeouts: { connect_ms: 60_000 } },
      providers: {
        one: { protocols: { 'openai-chat': `${origin}/v1` }, api_key: 'sk-upstream-test', ...provider },
      },
      models: [{ id: 'one/m' }],
      ...config,
    },
    { environment, ...(clock && { clock }) },
  );
  return gateway;
}

const REQUEST = { model: 'one/m', messages: [{ role: 'user', content: 'hello' }] };

async function ask(request: object = REQUEST): Promise<{ status: number; text: string }> {
  const answer = await gateway?.post('/chat/completions', request);
  return { status: answer?.status ?? 0, text: (await answer?.text()) ?? '' };
}

/** Everything that the gateway told anybody. */
const reported = ({ text }: { text: string }): string => text + (gateway?.logLines.join('') ?? '');

describe('an upstream without TLS', () => {
  test('is called in absolute form through the proxy of the provider, over persistent connections', async () => {
    await start(`http://${HOST}`, { proxy: proxy.address(USER) });
    expect((await ask()).status).toBe(200);
    expect((await ask({ ...REQUEST, messages: [{ role: 'user', content: 'again' }] })).status).toBe(200);
    expect(proxy.asked).toEqual(Array(2).fill(`POST http://${HOST}/v1/chat/completions`));
    for (const head of proxy.heads) expect(head).toContain(`\r\nproxy-authorization: ${PROOF}\r\n`);
    const [first, second] = plain.requests;
    expect(first).toMatchObject({ path: '/v1/chat/completions', headers: { host: HOST } });
    expect(second).toMatchObject({ path: '/v1/chat/completions', connection: first?.connection });
    expect(plain.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('is called through the proxy of the environment', async () => {
    await start(`http://${HOST}`, {}, { HTTP_PROXY: proxy.address(), HTTPS_PROXY: 'http://127.0.0.1:1' });
    expect((await ask()).status).toBe(200);
    expect(proxy.asked).toEqual([`POST http://${HOST}/v1/chat/completions`]);
  });

  test('is never called through the proxy of the environment if it is on this machine', async () => {
    await start(plain.origin, {}, { HTTP_PROXY: proxy.address() });
    expect((await ask()).status).toBe(200);
    expect((await ask({ ...REQUEST, model: 'sim/echo' })).status).toBe(200);
    expect(proxy.heads).toEqual([]);
  });

  test('is called directly if the provider is configured so', async () => {
    await start(`http://${HOST}`, { proxy: 'none' }, { HTTP_PROXY: proxy.address() });
    // The name leads nowhere.
    expect((await ask()).status).toBe(502);
    expect(proxy.heads).toEqual([]);
  });
});

describe.skipIf(!made)('an upstream with TLS', () => {
  test('is called through a tunnel, of which the proxy sees only the name', async () => {
    await start(`https://${HOST}`, { proxy: proxy.address(USER) });
    expect((await ask()).status).toBe(200);
    expect((await ask({ ...REQUEST, messages: [{ role: 'user', content: 'again' }] })).status).toBe(200);
    expect(proxy.heads).toEqual([
      `CONNECT ${HOST}:443 HTTP/1.1\r\nhost: ${HOST}:443\r\nproxy-authorization: ${PROOF}\r\n\r\n`,
    ]);
    expect(secure.requests.map(({ headers }) => headers['host'])).toEqual([HOST, HOST]);
  });

  test.each(['proxy', 'secureProxy'])('streams through a %s, large bodies included', async (name) => {
    const words = Array.from({ length: 200 }, (_, at) => `${at} ${'x'.repeat(2000)}`);
    secure.always(stream([...words.map((text) => chatChunk({ content: text })), CHAT_ENDING]));
    const through = name === 'proxy' ? proxy : secureProxy;
    await start(`https://${HOST}`, { proxy: through?.address(USER) });
    const content = 'y'.repeat(2_000_000);
    const { text } = await ask({ model: 'one/m', stream: true, messages: [{ role: 'user', content }] });
    expect(text).toContain(`199 ${'x'.repeat(2000)}`);
    expect(text).toContain('[DONE]');
    expect(secure.requests[0]?.text.length).toBeGreaterThan(2_000_000);
    expect(through?.asked).toEqual([`CONNECT ${HOST}:443`]);
  });

  test.each(['proxy', 'secureProxy'])('is refused through a %s for a wrong certificate', async (name) => {
    const through = name === 'proxy' ? proxy : secureProxy;
    await start(`https://${HOST}:9443`, { proxy: through?.address() });
    const answer = await ask();
    expect(answer.status).toBe(502);
    expect(answer.text).toContain('TLS');
    expect(imposter.requests).toEqual([]);
  });

  test('is not called through a proxy with a wrong certificate', async () => {
    const wrong = await startProxy({}, pem('other.example'));
    await start(`https://${HOST}`, { proxy: wrong.address(USER) });
    expect((await ask()).text).toContain('its proxy could not be reached (TLS: ');
    expect(wrong.heads).toEqual([]);
    await wrong.stop();
  });

  test('gets the certificate of the provider, and is verified only by its authorities', async () => {
    const tls = { cert: made?.path('client.pem'), key: made?.path('client.key') };
    const own = { ...tls, ca: made?.read('ca.pem') };
    await start(`https://${HOST}:8443`, { proxy: proxy.address(), tls: own });
    expect((await ask()).status).toBe(200);
    await gateway?.close();

    await start(`https://${HOST}:8443`, { proxy: secureProxy?.address(), tls });
    expect((await ask()).status).toBe(200);
    await gateway?.close();

    await start(`https://${HOST}:8443`, { proxy: proxy.address() });
    expect((await ask()).status).toBe(502);
    await gateway?.close();

    await start(`https://${HOST}:8443`, {
      proxy: proxy.address(),
      tls: { ...tls, ca: made?.path('stranger.pem') },
    });
    expect((await ask()).text).toContain('TLS');
    expect(strict.requests).toHaveLength(2);
  });
});

describe('a proxy that refuses', () => {
  const refusing =
    (status: string): Misbehaviour =>
    (socket) =>
      socket.end(
        `HTTP/1.1 ${status}\r\nproxy-authenticate: Basic realm="inner.corp"\r\ncontent-length: 11\r\n\r\n<corporate>`,
      );

  test.each([
    ['http', '', 'its proxy requires a user name and a password (status 407)'],
    ['http', USER, 'its proxy rejected the configured user name and password (status 407)'],
    ['https', '', 'its proxy requires a user name and a password (status 407)'],
    ['https', USER, 'its proxy rejected the configured user name and password (status 407)'],
  ])('%s as "%s": the reason is logged, and not sent to clients', async (scheme, user, words) => {
    proxy.misbehave = refusing('407 Proxy Authentication Required');
    await start(`${scheme}://${HOST}`, { proxy: proxy.address(user || undefined) });
    const answer = await ask();
    expect(answer.status).toBe(502);
    expect(answer.text).toContain(words);
    for (const secret of [...SECRETS, 'corp', '127.0.0.1']) expect(reported(answer)).not.toContain(secret);
  });

  test('a connection is reported with its status', async () => {
    proxy.misbehave = refusing('403 Filtered');
    await start(`https://${HOST}`, { proxy: proxy.address() });
    expect((await ask()).text).toContain('its proxy refused the connection (status 403)');
  });

  test('is not treated as an upstream that refuses a key: the next endpoint is used', async () => {
    proxy.misbehave = refusing('407 Proxy Authentication Required');
    const config = {
      providers: {
        one: { protocols: { 'openai-chat': `http://${HOST}/v1` }, proxy: proxy.address() },
        two: { protocols: { 'openai-chat': `${plain.origin}/v1` } },
      },
      models: [{ id: 'one/m', endpoints: [{ provider: 'one' }, { provider: 'two', model: 'm' }] }],
    };
    await start('', {}, {}, { config });
    expect((await ask()).status).toBe(200);
    expect(plain.requests).toHaveLength(1);
  });
});

describe('a hostile proxy', () => {
  const says =
    (text: string): Misbehaviour =>
    (socket) =>
      void socket.write(text, 'latin1');
  /** Writes until nobody takes it any more. */
  const floods =
    (text: string): Misbehaviour =>
    (socket: Socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(text, 'latin1'));
      };
      socket.on('drain', more);
      more();
    };

  test.each<[string, Misbehaviour, string]>([
    ['closes', (socket) => socket.end(), 'its proxy closed the connection without a response'],
    ['breaks off', (socket) => socket.destroy(), 'its proxy closed the connection without a response'],
    ['breaks off in its head', (socket) => socket.end('HTTP/1.1 200 O'), 'without a response'],
    [
      'talks nonsense',
      says('SSH-2.0-OpenSSH_9.9\r\n\r\n'),
      'violated the HTTP protocol (malformed status line)',
    ],
    [
      'upgrades',
      says('HTTP/1.1 101 Switching\r\n\r\n'),
      'violated the HTTP protocol (an unrequested protocol upgrade)',
    ],
    ['never sends the response', floods('HTTP/1.1 100 Continue\r\n\r\n'), 'more than 16 interim responses'],
    ['has an endless head', floods('x'.repeat(65_536)), 'response head too long'],
    [
      'speaks in the name of the host',
      says('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n'),
      'its proxy sent bytes before the tunnel was used',
    ],
    [
      'redirects',
      says('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n'),
      'refused the connection (status 302)',
    ],
  ])('that %s breaks the connection and nothing else', async (_, misbehave, words) => {
    proxy.misbehave = misbehave;
    await start(`https://${HOST}`, { proxy: proxy.address(USER) });
    const answer = await ask();
    expect(answer.status).toBe(502);
    expect(answer.text).toContain(words);
    for (const secret of SECRETS) expect(reported(answer)).not.toContain(secret);
  });

  test.skipIf(!made).each([
    ['declares unused lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: gzip\r\n\r\n'],
    ['asks to wait', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\n'],
  ])('that %s is understood, byte by byte', async (_, head) => {
    proxy.misbehave = (socket) => {
      let at = 0;
      const next = (): void => {
        if (at < head.length) return void socket.write(head[at++] ?? '', () => setImmediate(next));
        socket.removeAllListeners('data');
        const host = connect(secure.port, '127.0.0.1');
        host.pipe(socket).pipe(host);
        host.on('error', () => {});
      };
      socket.setNoDelay(true);
      next();
    };
    await start(`https://${HOST}`, { proxy: proxy.address() });
    expect((await ask()).status).toBe(200);
  });

  const silences: readonly [string, string, () => TestProxy | undefined][] = [
    ['a plain one, before its answer', '', () => proxy],
    ['a plain one, inside the tunnel', 'HTTP/1.1 200 OK\r\n\r\n', () => proxy],
    ['one with TLS, before its answer', '', () => secureProxy],
    ['one with TLS, inside the tunnel', 'HTTP/1.1 200 OK\r\n\r\n', () => secureProxy],
  ];
  test.skipIf(!made).each(silences)(
    'that does not respond is awaited for the time limit of a connection: %s',
    async (_, said, which) => {
      const clock = new ArmedClock();
      const through = which();
      const connected = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      if (!through) throw new Error('no proxy');
      through.misbehave = (socket) => {
        if (said === '') connected.resolve();
        else {
          socket.removeAllListeners('data');
          // The greeting of TLS comes next.
          socket.once('data', () => connected.resolve());
          socket.write(said);
        }
        socket.on('close', () => closed.resolve());
        socket.resume();
      };
      const config = { routing: { retries: 0, timeouts: { connect_ms: 3000 } } };
      await start(`https://${HOST}`, { proxy: through.address() }, {}, { clock, config });
      const answer = ask();
      await connected.promise;
      clock.advance(3200);
      expect(await answer).toMatchObject({ status: 504, text: expect.stringContaining('3000 ms') as string });
      await closed.promise;
    },
  );
});

describe('addresses in requests', () => {
  const image = (url: string): object => ({
    model: 'one/m',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  const PICTURE =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

  /** A picture at one path, an answer everywhere else. */
  const picture: Answer = (exchange) => {
    if (exchange.request.path !== '/a.png') return whole(chatBody({ text: 'hi' }))(exchange);
    const bytes = Buffer.from(PICTURE, 'base64');
    exchange.head(200, { 'content-type': 'image/png', 'content-length': String(bytes.length) });
    exchange.raw(bytes);
  };

  test.skipIf(!made).each(['http', 'https'])(
    'on %s go through the proxy to the checked address, under their own name',
    async (scheme) => {
      const host = scheme === 'http' ? plain : pictures;
      const authority = `93.184.215.14:${scheme === 'http' ? 80 : 443}`;
      host.always(picture);
      await start(plain.origin, {}, { [`${scheme}_proxy`]: proxy.address(USER) });
      expect((await ask(image(`${scheme}://pictures.example/a.png`))).status).toBe(200);
      expect(proxy.heads).toEqual([
        `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\nproxy-authorization: ${PROOF}\r\n\r\n`,
      ]);
      expect(host.requests[0]).toMatchObject({ path: '/a.png', headers: { host: 'pictures.example' } });
    },
  );

  test.each(['http://10.0.0.1/a.png', 'https://169.254.169.254/', 'http://localhost/a.png', 'http://[::1]/'])(
    '%s is refused before the proxy is contacted',
    async (url) => {
      await start(plain.origin, {}, { http_proxy: proxy.address(), https_proxy: proxy.address() });
      expect(await ask(image(url))).toMatchObject({ status: 400 });
      expect(proxy.heads).toEqual([]);
    },
  );

  test('that the operator exempts are connected to directly', async () => {
    plain.always(picture);
    const config = { fetch: { allow: ['127.0.0.1'] } };
    await start(plain.origin, {}, { http_proxy: proxy.address() }, { config });
    await ask(image(`${plain.origin}/a.png`));
    expect(plain.requests[0]?.path).toBe('/a.png');
    expect(proxy.heads).toEqual([]);
  });
});

test('connections are reused for the same route only', async () => {
  const client = new UpstreamClient(Date.now);
  const pool = { id: 'one', label: 'one' };
  const send = (networkRoute: NetworkRoute): Promise<void> =>
    new Promise((resolve, reject) =>
      client.send(
        { to: new Destination({ url: `${plain.origin}/x`, headers: {}, networkRoute }), body: [], pool },
        {
          connected() {},
          head() {},
          data() {},
          end: resolve,
          failed: (_, message) => reject(new Error(message)),
        },
      ),
    );
  await proxy.stop();
  proxy = await startProxy({ [`127.0.0.1:${plain.port}`]: plain.port });
  const through = makeNetworkRoute({ proxy: parseProxy(proxy.address()) });
  for (const networkRoute of [through, DIRECT, makeNetworkRoute({ ...through }), DIRECT])
    await send(networkRoute);
  const [first, second, third, fourth] = plain.requests.map(({ connection }) => connection);
  expect([third, fourth]).toEqual([first, second]);
  expect(second).not.toBe(first);
  expect(proxy.heads).toHaveLength(2);
  client.close();
});
