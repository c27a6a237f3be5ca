// TLS towards upstreams: the chain and the host name are verified before a byte of the request is sent. The
// certificates are made with openssl; without it the suite is skipped.
import { slicesOf } from '../../../src/base/lib/bytes.ts';
import { afterAll, describe, expect, test } from 'bun:test';
import { UpstreamClient, Destination } from '../../../src/upstream/client.ts';
import { makeNetworkRoute } from '../../../src/upstream/network-route.ts';
import { makeCertificates } from '../../support/certificates.ts';

const made = makeCertificates(['localhost', 'elsewhere.example']);
const read = (file: string): string => made?.read(file) ?? '';
if (!made) console.log('SKIP test/unit/upstream/upstream-tls.test.ts: there is no openssl on this machine');
afterAll(() => made?.remove());

describe.skipIf(!made)('an upstream over TLS', () => {
  test('is used if its certificate is valid for the host', async () => {
    expect(await ask('localhost', true)).toEqual({ answer: 'ok hello', failure: undefined, requests: 1 });
  });

  test('is refused when its certificate is for another host', async () => {
    const { answer, failure, requests } = await ask('elsewhere.example', true);
    expect({ answer, requests }).toEqual({ answer: '', requests: 0 });
    expect(failure).toContain('altnames');
  });

  test('is called under its own name if the connection goes to a chosen address', async () => {
    expect(await ask('elsewhere.example', true, 'elsewhere.example')).toEqual({
      answer: 'ok hello',
      failure: undefined,
      requests: 1,
    });
    const { failure, requests } = await ask('localhost', true, 'elsewhere.example');
    expect(failure).toContain('altnames');
    expect(requests).toBe(0);
  });

  test('is refused if its certificate is not from a trusted authority', async () => {
    const { answer, failure, requests } = await ask('localhost', false);
    expect({ answer, requests }).toEqual({ answer: '', requests: 0 });
    expect(failure).toContain('TLS');
  });
});

/**
 * Sends one request to a server on localhost that has the certificate of `host`.
 * @param name it is asked for by, where the connection is told its address
 */
async function ask(
  host: string,
  trusted: boolean,
  name?: string,
): Promise<{ answer: string; failure: string | undefined; requests: number }> {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    tls: { key: read(`${host}.key`), cert: read(`${host}.pem`) },
    async fetch(request) {
      requests++;
      return new Response(`ok ${await request.text()}`);
    },
  });
  const client = new UpstreamClient(Date.now);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let answer = '';
  client.send(
    {
      to: new Destination({
        url: `https://${name ?? 'localhost'}:${server.port}/x`,
        address: name && '127.0.0.1',
        headers: {},
        networkRoute: trusted ? makeNetworkRoute({ proxy: null, ca: read('ca.pem') }) : undefined,
      }),
      body: slicesOf('hello'),
    },
    {
      connected() {},
      head() {},
      data: (bytes) => (answer += bytes),
      end: () => resolve(undefined),
      failed: (_kind, message) => resolve(message),
    },
  );
  const failure = await promise;
  client.close();
  await server.stop(true);
  return { answer, failure, requests };
}
