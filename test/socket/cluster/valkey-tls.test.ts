// A server that speaks TLS: its name is checked against its certificate, which an authority of the configuration may have signed,
// and a gateway that trusts it shares limits over it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ValkeyPubSub, ValkeyServer } from '../../../src/cluster/valkey/index.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { type Certificates, makeCertificates } from '../../support/certificates.ts';
import { startGateway } from '../../support/harness.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { rejection } from '../../support/rejection.ts';
import { eventually } from '../../support/program.ts';

const elapsed = (): number => performance.now();
const NAME = 'localhost';
const certificates: Certificates | null =
  VALKEY_PROGRAM === null ? null : makeCertificates([NAME, 'elsewhere']);

describe.skipIf(certificates === null)('a server behind TLS', () => {
  const servers: ValkeyProcess[] = [];
  const links: ValkeyServer[] = [];
  let authority: string;

  async function start(name: string): Promise<ValkeyProcess> {
    const path = (file: string): string => certificates?.path(file) ?? '';
    const server = await startValkey((port) => ({
      port: '0',
      'tls-port': String(port),
      'tls-cert-file': path(`${name}.pem`),
      'tls-key-file': path(`${name}.key`),
      'tls-ca-cert-file': path('ca.pem'),
      'tls-auth-clients': 'no',
    }));
    servers.push(server);
    return server;
  }
  const open = (url: string, authorities: readonly string[]): ValkeyServer => {
    const link = new ValkeyServer(url, authorities, elapsed);
    links.push(link);
    return link;
  };
  const secure = ({ url }: ValkeyProcess, scheme: string): string =>
    url.replace('redis://127.0.0.1', `${scheme}://${NAME}`);

  beforeAll(async () => {
    authority = certificates?.read('ca.pem') ?? '';
    await start(NAME);
    await start('elsewhere');
  });
  afterAll(async () => {
    for (const link of links) link.close();
    await Promise.all(servers.map((server) => server.stop()));
    certificates?.remove();
  });
  const at = (index: number): ValkeyProcess => servers[index] ?? expect.unreachable('it has started');

  test.each(['rediss', 'valkeys'])('%s:// trusts the authority that is configured', async (scheme) => {
    const link = open(secure(at(0), scheme), [authority]);
    expect(await link.send('PING', [])).toBe('PONG');
    const received: string[] = [];
    const pubSub = new ValkeyPubSub(link, { self: 'one', clock: systemClock, elapsed });
    pubSub.subscribe('tenants', (text) => received.push(text));
    await eventually('a message arrives', async () => {
      await link.publish('told', JSON.stringify(['two', 'tenants', 'secret']));
      return received.length > 0;
    });
    pubSub.close();
  });

  test('a server with an untrusted authority is refused', async () => {
    const stranger = certificates?.read('stranger.pem') ?? '';
    expect(await rejection(open(secure(at(0), 'rediss'), []).send('PING', []))).toBeInstanceOf(Error);
    expect(await rejection(open(secure(at(0), 'rediss'), [stranger]).send('PING', []))).toBeInstanceOf(Error);
  });

  test('a server with a certificate for another name is refused', async () => {
    expect(await rejection(open(secure(at(1), 'rediss'), [authority]).send('PING', []))).toBeInstanceOf(
      Error,
    );
  });

  test('messages of a server with such a certificate are not received', async () => {
    const listen = (link: ValkeyServer): Promise<unknown> => rejection(link.listen('told', () => {}));
    expect(await listen(open(secure(at(0), 'rediss'), []))).toBeInstanceOf(Error);
    expect(await listen(open(secure(at(1), 'rediss'), [authority]))).toBeInstanceOf(Error);
  });

  test('a server that expects TLS is not contacted without TLS', async () => {
    expect(await rejection(open(secure(at(0), 'redis'), []).send('PING', []))).toBeInstanceOf(Error);
  });

  test('a gateway shares limits over it', async () => {
    await using gateway = await startGateway({
      redis_url: secure(at(0), 'rediss'),
      upstream: { ca: certificates?.path('ca.pem') },
      limits: [{ requests: 2, per: 'hour' }],
    });
    const ask = async (): Promise<number> => {
      const body = { model: 'sim/chat', messages: [{ role: 'user', content: 'hi' }] };
      const answer = await gateway.post('/chat/completions', body);
      await answer.text();
      return answer.status;
    };
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    const ready = (await (await fetch(`${gateway.origin}/readyz`)).json()) as { degraded: string[] };
    expect(ready.degraded).toEqual([]);
  });
});
