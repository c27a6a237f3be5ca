// Proxies and certificates in the environment and the configuration: which address goes through which proxy, and
// how what is wrong is refused, without a word of the passwords in it.
import { afterAll, describe, expect, test } from 'bun:test';
import { buildSnapshot, ConfigError, loadConfig } from '../../../src/app/config/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { proxyFor, readNetwork } from '../../../src/upstream/network.ts';
import { parseProxy } from '../../../src/upstream/network-route.ts';
import { makeCertificates } from '../../support/certificates.ts';

const made = makeCertificates(['client', 'other']);
if (!made)
  console.log(
    'SKIP test/unit/upstream/proxy-settings.test.ts, certificates: there is no openssl on this machine',
  );
afterAll(() => made?.remove());

type Variables = Readonly<Record<string, string>>;

/** The address of the proxy through which something is asked for, or `straight`. */
function wayTo(url: string, variables: Variables): string {
  const network = readNetwork(variables, [], (variable, problem) => {
    throw new Error(`${variable} ${problem}`);
  });
  return proxyFor(network, new URL(url))?.address ?? 'straight';
}

describe('the environment', () => {
  const BOTH = { HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:2' };

  test.each<[string, Variables, string]>([
    ['http://x.example/', BOTH, 'http://a:1'],
    ['https://x.example/', BOTH, 'http://b:2'],
    ['https://x.example/', { HTTP_PROXY: 'http://a:1' }, 'straight'],
    ['http://x.example/', { HTTPS_PROXY: 'http://b:2' }, 'straight'],
    ['https://x.example/', { https_proxy: 'http://c:3', HTTPS_PROXY: 'http://b:2' }, 'http://c:3'],
    ['https://x.example/', { https_proxy: '', HTTPS_PROXY: 'http://b:2' }, 'straight'],
    ['http://x.example/', { HTTP_PROXY: 'http://a:1', REQUEST_METHOD: 'GET' }, 'straight'],
    ['http://x.example/', { http_proxy: 'http://a:1', REQUEST_METHOD: 'GET' }, 'http://a:1'],
    ['https://x.example/', { https_proxy: 'proxy.corp:3128' }, 'http://proxy.corp:3128'],
    ['https://x.example/', { https_proxy: 'proxy.corp' }, 'http://proxy.corp:80'],
    ['https://x.example/', { https_proxy: 'https://user:pass@proxy.corp/' }, 'https://proxy.corp:443'],
    ['https://x.example/', { https_proxy: 'HTTP://[fd00::1]:8080' }, 'http://[fd00::1]:8080'],
  ])('sends %s with %j through %s', (url, variables, way) => {
    expect(wayTo(url, variables)).toBe(way);
  });

  test.each([
    ['*', 'https://x.example/', true],
    ['example.com', 'https://example.com/', true],
    ['example.com', 'https://api.example.com/', true],
    ['example.com', 'https://notexample.com/', false],
    ['example.com', 'https://example.com.evil.example/', false],
    ['.example.com', 'https://api.example.com/', true],
    ['.example.com', 'https://example.com/', true],
    ['*.example.com', 'https://api.example.com/', true],
    ['EXAMPLE.com', 'https://Example.COM./', true],
    ['example.com:8443', 'https://example.com:8443/', true],
    ['example.com:8443', 'https://example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['10.0.0.0/8', 'https://10.1.2.3/', true],
    ['10.0.0.0/8', 'https://11.1.2.3/', false],
    ['10.0.0.0/8', 'https://10.example.com/', false],
    ['10.1.2.3', 'https://10.1.2.3/', true],
    ['10.1.2.3:80', 'https://10.1.2.3/', false],
    ['0.0.0.0/0', 'https://203.0.113.9/', true],
    ['fd00::/8', 'https://[fd12::1]/', true],
    ['fd00::/8', 'https://[fe12::1]/', false],
    ['2001:db8::1', 'https://[2001:db8::1]/', true],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]/', true],
    ['10.0.0.0/33', 'https://10.0.0.1/', false],
    ['10.0.0.0/x', 'https://10.0.0.1/', false],
    ['/', 'https://10.0.0.1/', false],
    ['.', 'https://x.example/', false],
    ['a.example b.example', 'https://b.example/', true],
    [' a.example , , b.example ', 'https://b.example/', true],
    ['', 'https://x.example/', false],
  ])('with NO_PROXY=%p, %s is called directly: %p', (entries, url, isStraight) => {
    const way = wayTo(url, { HTTPS_PROXY: 'http://b:2', NO_PROXY: entries });
    expect(way).toBe(isStraight ? 'straight' : 'http://b:2');
  });

  test.each([
    'http://localhost:11434/',
    'http://app.localhost/',
    'http://127.0.0.1/',
    'http://127.8.9.1:80/',
    'http://[::1]:8000/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
  ])('never sends %s through a proxy', (url) => {
    expect(wayTo(url, { HTTP_PROXY: 'http://a:1' })).toBe('straight');
  });

  test.each(['http://10.0.0.5:8000/', 'http://models.corp/', 'http://notlocalhost/'])(
    'sends %s through a proxy, as other programs do',
    (url) => {
      expect(wayTo(url, { HTTP_PROXY: 'http://a:1' })).toBe('http://a:1');
    },
  );
});

describe('the address of a proxy', () => {
  test('may hold a name and a password, percent-encoded', () => {
    expect(parseProxy('http://ann:p%40ss%25@h:1').authorization?.reveal()).toBe(`Basic ${btoa('ann:p@ss%')}`);
    expect(parseProxy('http://ann@h:1').authorization?.reveal()).toBe(`Basic ${btoa('ann:')}`);
    expect(parseProxy('http://h:1').authorization).toBeNull();
    expect(JSON.stringify(parseProxy('http://ann:pass-word@h:1'))).not.toContain('pass-word');
  });

  const WRONG: readonly [string, string][] = [
    ['socks5://u:secret-word@h:1080', 'must be the address of an http or https proxy, not of a socks5 proxy'],
    ['http://u:secret-word@h:99999', 'must be the address of a proxy'],
    ['http://u:secret-word@', 'must be the address of a proxy'],
    ['http://u:secret-word@h:1/path', 'only a host and a port'],
    ['http://u%3A:secret-word@h:1', 'must not have a colon in the user name'],
  ];

  test.each(WRONG)('%s is refused in the environment', (address, words) => {
    const error = failure(() => load({}, { HTTPS_PROXY: address }));
    expect(error.message).toContain('the environment variable HTTPS_PROXY ');
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('secret-word');
  });

  test.each(WRONG)('%s is refused in the configuration', (address, words) => {
    const error = failure(() => build({ proxy: address }));
    expect(error.message).toContain('providers.one.proxy');
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('secret-word');
  });
});

describe.skipIf(!made)('certificates', () => {
  const path = (file: string): string => made?.path(file) ?? '';

  test.each<[string, () => object, string, string]>([
    ['a certificate without its key', () => ({ cert: path('client.pem') }), 'tls.key', 'missing'],
    ['a key without its certificate', () => ({ key: path('client.key') }), 'tls.cert', 'missing'],
    [
      'the key of another certificate',
      () => ({ cert: path('client.pem'), key: path('other.key') }),
      'tls.key',
      'does not match the certificate',
    ],
    [
      'a certificate in place of a key',
      () => ({ cert: path('client.pem'), key: path('client.pem') }),
      'tls.key',
      'must contain an unencrypted private key in PEM format',
    ],
    [
      'a key in place of an authority',
      () => ({ ca: path('ca.key') }),
      'tls.ca',
      'must contain certificates in PEM format',
    ],
    [
      'a broken certificate behind a good one',
      () => ({ ca: `${made?.read('ca.pem')}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n` }),
      'tls.ca',
      'must contain certificates in PEM format',
    ],
    ['a file that is not there', () => ({ ca: '/nowhere/ca.pem' }), 'tls.ca', 'cannot be read: ENOENT'],
  ])('%s is refused', (_, tls, key, words) => {
    const { message } = failure(() => build({ tls: tls() }));
    expect(message).toContain(`providers.one.${key}`);
    expect(message).toContain(words);
  });

  test('certificates for a server without TLS are refused', () => {
    const protocols = { 'openai-chat': 'http://models.example/v1' };
    const { message } = failure(() => build({ protocols, tls: { ca: path('ca.pem') } }));
    expect(message).toContain('providers.one.tls: applies only to https addresses');
  });

  test('authorities for everything are read from one file or several', () => {
    expect(load({ upstream: { ca: path('ca.pem') } }).config.upstream.network.ca).toHaveLength(1);
    const two = [path('ca.pem'), path('stranger.pem')];
    expect(load({ upstream: { ca: two } }).config.upstream.network.ca).toHaveLength(2);
    expect(failure(() => load({ upstream: { ca: '/nowhere' } })).message).toContain('cannot read /nowhere');
    expect(failure(() => load({ upstream: { ca: path('ca.key') } })).message).toContain(
      'must contain certificates in PEM format',
    );
  });
});

function load(config: object, environment: Variables = {}): ReturnType<typeof loadConfig> {
  const text = JSON.stringify(config);
  if (!made) return loadConfig({ environment, flags: { config: 'x' }, readFile: () => text });
  const read = (file: string): string => {
    if (file === 'x') return text;
    if (file.startsWith('/nowhere')) throw new Error('ENOENT');
    return made.read(file.split('/').at(-1) ?? '');
  };
  return loadConfig({ environment, flags: { config: 'x' }, readFile: read });
}

function build(provider: object): void {
  const one = { api_key: 'none', protocols: { 'openai-chat': 'https://models.example/v1' }, ...provider };
  const { config } = load({ providers: { one } });
  buildSnapshot({ config, presets, sim: null, environment: {}, revision: 1 });
}

function failure(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
