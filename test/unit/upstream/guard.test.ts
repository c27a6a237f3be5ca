// The guard over addresses that come from requests: what may be asked for at all, where the connection goes, and how
// much of an answer is taken. Names resolve as each test says; connections are real.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { GatewayError } from '../../../src/canonical/index.ts';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import { isPublicAddress } from '../../../src/upstream/address-ranges.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { GuardedFetch, type GuardedRequest } from '../../../src/upstream/fetch-guarded.ts';
import { guardUrl } from '../../../src/upstream/guard.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  startUpstream,
  type Answer,
  type ScriptedUpstream,
} from '../../support/upstreams/scripted-upstream.ts';

/** Addresses of names in these tests. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  localhost: ['127.0.0.1', '::1'],
  'app.localhost': ['127.0.0.1'],
  'private.example': ['10.1.2.3'],
  'metadata.google.internal': ['169.254.169.254'],
  'half.example': ['93.184.215.14', '192.168.0.7'],
  'six.example': ['fd12:3456::1'],
  'half-six.example': ['93.184.215.14', 'fe80::1'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'nat64.example': ['64:ff9b::a00:1'],
  'zone.example': ['fe80::1%eth0'],
  'nothing.example': [],
  'words.example': ['not an address'],
  'wildcard.10.0.0.1.example': ['10.0.0.1'],
  intranet: ['172.20.0.9'],
  'xn--bcher-kva.example': ['10.0.0.2'],
};

const resolve = async (host: string): Promise<readonly string[]> => {
  const found = NAMES[host];
  if (!found) throw new Error('ENOTFOUND');
  return found;
};

/** Addresses that must be refused, each for a reason of its own. */
const HOSTILE: readonly string[] = [
  // Loopback, in all its spellings.
  'http://127.0.0.1/',
  'http://127.0.0.1:8080/admin',
  'http://127.1/',
  'http://127.255.255.254/',
  'http://2130706433/',
  'http://0177.0.0.1/',
  'http://0x7f.0.0.1/',
  'http://0x7f000001/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://%31%32%37.0.0.1/',
  'http://１２７.0.0.1/',
  'http://127。0。0。1/',
  'http://①②⑦.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'http:///127.0.0.1/',
  'http:127.0.0.1',
  ' http://127.0.0.1/ ',
  'http://127.0.0.1\t/',
  'HTTP://127.0.0.1',
  'https://127.0.0.1/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://ⓛocalhost/',
  'http://app.localhost/',
  // This host, private networks, carriers' networks.
  'http://0.0.0.0/',
  'http://0/',
  'http://0.1.2.3/',
  'http://[::]/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://3232235777/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  // Link-local, metadata of clouds.
  'http://169.254.169.254/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.170.2/v2/credentials',
  'http://100.100.100.200/',
  'http://168.63.129.16/metadata/instance',
  'http://192.0.0.192/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://[fe80::1]/',
  'http://[febf::1]/',
  'http://[fec0::1]/',
  // IPv4 inside of IPv6.
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  // Multicast, reserved, documentation, benchmarks.
  'http://224.0.0.1/',
  'http://239.255.255.250:1900/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://192.88.99.1/',
  'http://[ff02::1]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[100::1]/',
  'http://[5f00::1]/',
  // Names that lead there, or nowhere.
  'http://private.example/',
  'http://private.example.:8443/',
  'http://half.example/',
  'http://half-six.example/',
  'http://six.example/',
  'http://mapped.example/',
  'http://nat64.example/',
  'http://zone.example/',
  'http://nothing.example/',
  'http://words.example/',
  'http://unknown.example/',
  'http://wildcard.10.0.0.1.example/',
  'http://intranet/',
  'http://bücher.example/',
  // The host is not the one that it seems.
  'http://public.example@127.0.0.1/',
  'http://public.example:80@10.0.0.1/',
  'http://user:password@public.example/',
  'http://127.0.0.1#@public.example/',
  'http://127.0.0.1?@public.example/',
  // No web address at all.
  'file:///etc/passwd',
  'ftp://public.example/',
  'gopher://public.example:70/_GET',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'ws://public.example/',
  'unix:/var/run/docker.sock',
  'http://',
  'http://.../',
  'http://[::1',
  'http://[fe80::1%25eth0]/',
  'http://256.1.1.1/',
  'http://1.2.3.4.5/',
  'http://public.example:99999/',
  'http://pub%00lic.example/',
  '//public.example/',
  '',
];

const NOBODY = { allow: () => [], resolve };

function codeOf(attempt: Promise<unknown>): Promise<string | undefined> {
  return attempt.then(
    () => 'allowed',
    (error: unknown) => (GatewayError.is(error) ? `${error.kind} ${error.code}` : String(error)),
  );
}

describe('an address that may not be fetched', () => {
  test('the table is long enough', () => {
    expect(new Set(HOSTILE).size).toBe(HOSTILE.length);
    expect(HOSTILE.length).toBeGreaterThan(60);
  });

  test.each(HOSTILE.map((url) => [url]))('%s', async (url) => {
    expect(await codeOf(guardUrl(url, NOBODY))).toBe('invalid_request url_not_allowed');
  });

  test('does not reveal whether a private name exists', async () => {
    const words = (url: string): Promise<unknown> =>
      guardUrl(url, NOBODY).catch((error: Error) => error.message);
    expect(await words('http://private.example/')).toEqual(await words('http://unknown.example/'));
  });
});

describe('an address that may be fetched', () => {
  test.each([
    ['http://public.example/a.png', NAMES['public.example'] ?? []],
    ['https://PUBLIC.example.:8443/a?b#c', NAMES['public.example'] ?? []],
    ['http://public.example:25/', NAMES['public.example'] ?? []],
    // A backslash is a slash: the rest is a path, and the connection goes where the name leads.
    ['http://public.example\\@127.0.0.1/', NAMES['public.example'] ?? []],
    ['http://8.8.8.8/', ['8.8.8.8']],
    ['http://134744072/', ['8.8.8.8']],
    ['http://[2606:4700:4700::1111]/', ['2606:4700:4700::1111']],
    ['http://[::ffff:8.8.8.8]/', ['::ffff:808:808']],
  ])('%s', async (url, addresses) => {
    expect((await guardUrl(url, NOBODY)).addresses).toEqual(addresses);
  });

  test.each([
    ['172.15.255.255', true],
    ['172.32.0.0', true],
    ['100.63.255.255', true],
    ['100.128.0.0', true],
    ['192.0.1.0', true],
    ['198.17.255.255', true],
    ['223.255.255.255', true],
    ['11.0.0.0', true],
    ['2001:200::1', true],
    ['2003::1', true],
    ['64:ff9b::808:808', true],
    ['1fff::1', false],
    ['4000::1', false],
    ['2606:4700::1::1', false],
    ['2606:4700', false],
    ['1.2.3', false],
    ['8.8.8.8 ', false],
  ])('the edge of a range: %s is public: %p', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic);
  });

  test.each([
    ['http://private.example/', ['private.example']],
    ['http://private.example:8080/', ['private.example']],
    ['http://private.example:8080/', ['private.example:8080']],
    ['http://private.example/', ['private.example:80']],
    ['https://private.example/', ['PRIVATE.example:443']],
    ['http://2130706433:9400/', ['127.0.0.1:9400']],
    ['http://[0:0::1]:9400/', ['[::1]:9400']],
    ['http://bücher.example/', ['bücher.example']],
  ])('%s if %p is exempt', async (url, allow) => {
    expect(await codeOf(guardUrl(url, { allow: () => allow, resolve }))).toBe('allowed');
  });

  test.each([
    ['http://private.example:8080/', ['private.example:80']],
    ['http://private.example/', ['rivate.example', 'example', 'private.example.org', '*', '']],
    ['http://private.example/', ['public.example']],
    ['http://unknown.example/', ['unknown.example']],
    ['file://private.example/', ['private.example']],
  ])('not %s if %p is exempt', async (url, allow) => {
    expect(await codeOf(guardUrl(url, { allow: () => allow, resolve }))).toBe(
      'invalid_request url_not_allowed',
    );
  });
});

describe('fetching under guard', () => {
  let site: ScriptedUpstream;
  let other: ScriptedUpstream;
  const client = new UpstreamClient(Date.now);
  beforeAll(async () => {
    [site, other] = await Promise.all([startUpstream(), startUpstream()]);
  });
  afterAll(async () => {
    client.close();
    await Promise.all([site.stop(), other.stop()]);
  });

  const at = (server: ScriptedUpstream, host: string): string => server.origin.replace('127.0.0.1', host);
  const whole =
    (status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array = ''): Answer =>
    (exchange) => {
      exchange.head(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
      exchange.raw(body);
    };
  const redirect = (location: string, status = 302): Answer => whole(status, { location });
  const asked: string[] = [];
  const guard = (allow: readonly string[], clock: Clock = systemClock): GuardedFetch =>
    new GuardedFetch({
      client,
      clock,
      allow: () => allow,
      resolve: async (host) => {
        asked.push(host);
        return host.endsWith('.test') ? ['127.0.0.1'] : resolve(host);
      },
    });
  const limits = { maxBytes: 100_000, timeoutMs: 5_000 };
  const get = (url: string, rest: Partial<GuardedRequest> = {}): GuardedRequest => ({
    url,
    ...limits,
    ...rest,
  });

  test('connects to the checked address, under the requested name', async () => {
    asked.length = 0;
    site.script(whole(200, { 'content-type': 'image/png' }, 'bytes'));
    const answer = await guard(['site.test']).fetchWhole(get(`${at(site, 'site.test')}/a.png?b=c`));
    expect(answer.status).toBe(200);
    expect(answer.header('content-type')).toBe('image/png');
    expect(answer.bytes.toString()).toBe('bytes');
    const [request] = site.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/a.png?b=c' });
    expect(request?.headers).toEqual({
      host: at(site, 'site.test').slice('http://'.length),
      'user-agent': 'dragoman',
      'accept-encoding': 'identity',
    });
    // Once: a second question could be answered otherwise.
    expect(asked).toEqual(['site.test']);
  });

  test('tries the next address of a name if the first is unreachable', async () => {
    site.script(whole(200, {}, 'found'));
    const twice = new GuardedFetch({
      client,
      clock: systemClock,
      allow: () => ['two.test'],
      resolve: async () => ['::1', '127.0.0.1'],
    });
    expect((await twice.fetchWhole(get(`${at(site, 'two.test')}/`))).bytes.toString()).toBe('found');
  });

  test('checks the target of each redirect', async () => {
    for (const place of [
      'http://169.254.169.254/',
      'http://private.example/',
      'file:///etc/passwd',
      '//[::1]/x',
    ]) {
      site.script(redirect(place));
      expect(await codeOf(guard(['site.test']).fetchWhole(get(`${at(site, 'site.test')}/`)))).toBe(
        'invalid_request url_not_allowed',
      );
    }
    other.script();
    site.script(redirect(`${at(other, 'site.test')}/`));
    const { port } = new URL(site.origin);
    expect(await codeOf(guard([`site.test:${port}`]).fetchWhole(get(`${at(site, 'site.test')}/`)))).toBe(
      'invalid_request url_not_allowed',
    );
    expect(other.requests).toEqual([]);
  });

  test('follows three redirects and no more', async () => {
    const hops = [redirect('/1'), redirect('2'), redirect(`${at(site, 'site.test')}/3`)];
    site.script(...hops, whole(200, {}, 'there'));
    const answer = await guard(['site.test']).fetchWhole(get(`${at(site, 'site.test')}/`));
    expect(answer.bytes.toString()).toBe('there');
    expect(answer.url).toBe(`${at(site, 'site.test')}/3`);
    expect(site.requests.map(({ path }) => path)).toEqual(['/', '/1', '/2', '/3']);
    site.script(...hops, redirect('/4'), whole(200, {}, 'too far'));
    expect(await codeOf(guard(['site.test']).fetchWhole(get(`${at(site, 'site.test')}/`)))).toBe(
      'unsupported url_not_fetched',
    );
    expect(site.requests.length).toBe(4);
  });

  test('keeps credentials from other origins, also on the way back', async () => {
    const secret = { authorization: 'Bearer sk-test', cookie: 'a=b', 'x-api-key': 'sk-test' };
    site.script(redirect('/same'), redirect(`${at(other, 'other.test')}/`), whole(200, {}, 'home'));
    other.script(redirect(`${at(site, 'site.test')}/home`));
    await guard(['site.test', 'other.test']).fetchWhole(
      get(`${at(site, 'site.test')}/`, { headers: { ...secret, accept: 'image/*' } }),
    );
    const seen = [...site.requests.slice(0, 2), ...other.requests, ...site.requests.slice(2)].map(
      ({ headers }) => [headers['authorization'], headers['cookie'], headers['x-api-key'], headers['accept']],
    );
    const all = ['Bearer sk-test', 'a=b', 'sk-test', 'image/*'];
    const none = [undefined, undefined, undefined, 'image/*'];
    expect(seen).toEqual([all, all, none, none]);
  });

  test('sends a body on only within its origin', async () => {
    const post = get(`${at(site, 'site.test')}/`, { method: 'POST', body: '{"a":1}' });
    site.script(redirect('/again', 307), whole(200, {}, 'ok'));
    await guard(['site.test']).fetchWhole(post);
    expect(site.requests.map(({ method, json }) => [method, json])).toEqual([
      ['POST', { a: 1 }],
      ['POST', { a: 1 }],
    ]);
    other.script();
    site.script(redirect(`${at(other, 'other.test')}/`, 308));
    expect(await codeOf(guard(['site.test', 'other.test']).fetchWhole(post))).toBe(
      'unsupported url_not_fetched',
    );
    expect(other.requests).toEqual([]);
    other.script(whole(200, {}, 'seen'));
    site.script(redirect(`${at(other, 'other.test')}/`, 303));
    await guard(['site.test', 'other.test']).fetchWhole(post);
    expect(other.requests.map(({ method, text }) => [method, text])).toEqual([['GET', '']]);
  });

  test('reads no more bytes than its limit, announced or not', async () => {
    const small = get(`${at(site, 'site.test')}/`, { maxBytes: 1000 });
    site.script(whole(200, {}, 'x'.repeat(1000)));
    expect((await guard(['site.test']).fetchWhole(small)).bytes.length).toBe(1000);
    site.script((exchange) => exchange.head(200, { 'content-length': '1001' }));
    expect(await codeOf(guard(['site.test']).fetchWhole(small))).toBe('too_large url_too_large');
    site.script((exchange) => {
      exchange.openStream({ 'content-type': 'image/png' });
      exchange.chunk('x'.repeat(600));
      exchange.chunk('x'.repeat(600));
    });
    expect(await codeOf(guard(['site.test']).fetchWhole(small))).toBe('too_large url_too_large');
    // The connection is closed: whoever sends without end has nobody to send to.
    await site.exchanges[0]?.closed;
  });

  const bomb = Buffer.alloc(50_000_000);
  test.each([
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb)],
    ['gzip, gzip', gzipSync(gzipSync(bomb))],
  ])('is not inflated without limit by %s', async (coding, body) => {
    expect(body.length).toBeLessThan(limits.maxBytes);
    let taken = 0;
    site.script(whole(200, { 'content-encoding': coding }, body));
    const error = await new Promise<GatewayError | null>((done) => {
      guard(['site.test']).send(get(`${at(site, 'site.test')}/`), {
        head() {},
        data: (bytes) => (taken += bytes.length),
        end: () => done(null),
        failed: done,
      });
    });
    expect(error?.code).toBe(coding.includes(',') ? 'url_not_fetched' : 'url_too_large');
    expect(taken).toBeLessThanOrEqual(limits.maxBytes);
  });

  test('reads compressed content within limits', async () => {
    site.script(whole(200, { 'content-encoding': 'gzip' }, gzipSync('hello')));
    const answer = await guard(['site.test']).fetchWhole(get(`${at(site, 'site.test')}/`));
    expect(answer.bytes.toString()).toBe('hello');
  });

  test('waits no longer than its limit, for any slow step', async () => {
    const request = get(`${at(site, 'site.test')}/`, { timeoutMs: 3_000 });
    const scripts: readonly (readonly Answer[])[] = [
      [() => {}],
      [(exchange) => exchange.head(200, { 'content-length': '5' })],
      [redirect('/slower'), () => {}],
    ];
    for (const script of scripts) {
      const clock = new ManualClock();
      site.script(...script);
      const pending = codeOf(guard(['site.test'], clock).fetchWhole(request));
      await site.arrived(script.length);
      clock.advance(2_999);
      clock.advance(1);
      expect(await pending).toBe('unsupported url_not_fetched');
    }
  });

  test('can be cancelled', async () => {
    site.script(() => {});
    const call = guard(['site.test']).send(get(`${at(site, 'site.test')}/`), {
      head: () => expect.unreachable(),
      data: () => expect.unreachable(),
      end: () => expect.unreachable(),
      failed: () => expect.unreachable(),
    });
    const arrived = await site.arrived(1);
    call.abort();
    await arrived.closed;
  });

  test('reports the failure without texts of the network', async () => {
    const failure = (url: string): Promise<unknown> =>
      guard(['site.test', 'dead.test'])
        .fetchWhole(get(url))
        .catch((error: Error) => error.message);
    expect(await failure('http://dead.test:1/')).toBe(
      'This URL could not be fetched: no connection could be made.',
    );
    site.script((exchange) => exchange.cut());
    expect(await failure(at(site, 'site.test'))).toContain('closed before a response arrived');
    site.script((exchange) => exchange.raw('SSH-2.0-OpenSSH_9.9\r\n\r\n'));
    expect(await failure(at(site, 'site.test'))).toContain('does not speak HTTP/1.1');
  });
});
