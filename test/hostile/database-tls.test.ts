// PostgreSQL servers behind TLS, and others that pose as them: to whom the gateway gives its password.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listenTo, openPool } from '../../src/storage/postgres/pool.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { POSTGRES_PROGRAMS, startPostgres, type PostgresServer } from '../support/servers/postgres.ts';

const NAME = 'localhost';
const certificates: Certificates | null =
  POSTGRES_PROGRAMS === null ? null : makeCertificates([NAME, 'elsewhere']);

describe.skipIf(certificates === null)('a PostgreSQL server', () => {
  const servers = new Map<string, PostgresServer>();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-database-tls-'));

  /** A server that shows a certificate, or knows no TLS; its user must own the key. */
  async function start(name: string): Promise<void> {
    const owner = statSync(servers.get('plain')?.folder ?? folder);
    const files = [`${name}.pem`, `${name}.key`].map((file) => {
      const own = join(folder, file);
      if (name === 'plain') return own;
      copyFileSync(certificates?.path(file) ?? '', own);
      chmodSync(own, 0o600);
      chownSync(own, owner.uid, owner.gid);
      return own;
    });
    const [certificate = '', key = ''] = files;
    const tls = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key };
    servers.set(name, await startPostgres(name === 'plain' ? {} : tls));
  }

  beforeAll(async () => {
    // Made with modes that let nobody else in.
    chmodSync(folder, 0o755);
    for (const name of ['plain', NAME, 'elsewhere']) await start(name);
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.stop();
    certificates?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (server: string, host: string, mode: string, authority: string | null): string => {
    const url = new URL(servers.get(server)?.url ?? '');
    url.hostname = host;
    url.searchParams.set('sslmode', mode);
    if (authority !== null) url.searchParams.set('sslrootcert', certificates?.path(`${authority}.pem`) ?? '');
    return url.href;
  };

  /** Connects as the stores do, and as those do that listen. */
  async function connect(url: string): Promise<readonly string[]> {
    const said = (error: unknown): string => `refused: ${String(error)}`;
    const pool = openPool({ url, max: 1, statementMs: 1000, connectMs: 5000 });
    const asked = await pool.connect().then((client) => (client.release(), 'connected'), said);
    await pool.end();
    const received = await listenTo(url, 'channel', () => {}).then(
      (listener) => (listener.close(), 'connected'),
      said,
    );
    return [asked, received];
  }

  test.each([
    [NAME, NAME, 'verify-full'],
    [NAME, NAME, 'require'],
    ['elsewhere', NAME, 'no-verify'],
  ])('%s at %s is accepted with sslmode=%s', async (server, host, mode) => {
    expect(await connect(urlOf(server, host, mode, 'ca'))).toEqual(['connected', 'connected']);
  });

  test.each([
    ['of an untrusted authority', NAME, NAME, 'verify-full', 'stranger'],
    ['of an authority of the system alone', NAME, NAME, 'verify-full', null],
    ['of an untrusted authority, requested with', NAME, NAME, 'require', 'stranger'],
    ['for another name', 'elsewhere', NAME, 'verify-full', 'ca'],
    ['for another name, requested with', 'elsewhere', NAME, 'require', 'ca'],
    ['for a name if it is requested by address', NAME, '127.0.0.1', 'verify-full', 'ca'],
    ['for another name if it is requested by address', 'elsewhere', '127.0.0.1', 'verify-full', 'ca'],
    ['that is missing without TLS', 'plain', '127.0.0.1', 'verify-full', 'ca'],
    ['that is missing without TLS, requested with', 'plain', '127.0.0.1', 'prefer', 'ca'],
  ])('with a certificate %s (%s at %s, sslmode=%s) is refused', async (_, server, host, mode, authority) => {
    const [asked, received] = await connect(urlOf(server, host, mode, authority));
    expect([asked, received]).toEqual([
      expect.stringContaining('refused'),
      expect.stringContaining('refused'),
    ]);
    expect(String([asked, received])).not.toContain('test-password');
  });
});
