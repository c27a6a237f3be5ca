// Equal requests of management that arrive at several processes at once: one is answered, and the others get its answer.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';
import { startManaged, type ManagedGateway } from '../support/management/scene.ts';

const TIMES = 12;

/** Starts two processes of one installation. */
async function startTwo(
  over: Record<string, unknown>,
  dataDir?: string,
): Promise<readonly [ManagedGateway, ManagedGateway]> {
  const options = dataDir === undefined ? undefined : { dataDir };
  return [await startManaged(over, options), await startManaged(over, options)];
}

function holds(name: string, start: () => Promise<readonly [ManagedGateway, ManagedGateway]>): void {
  describe(name, () => {
    let both: readonly [ManagedGateway, ManagedGateway];
    beforeAll(async () => {
      both = await start();
    });
    afterAll(async () => {
      for (const each of both) await each.close();
    });

    test('twelve equal rotations create one secret', async () => {
      const made = await both[0].manage('POST', '/keys', { name: 'shop' });
      const path = `/keys/${String(made.body['id'])}/rotate`;
      const headers = { 'idempotency-key': 'once' };
      const answers = await Promise.all(
        Array.from({ length: TIMES }, (_, at) => (both[at % 2] ?? both[0]).manage('POST', path, {}, headers)),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => answers[0]?.status ?? 0));
      expect(new Set(answers.map(({ body }) => body['key'])).size).toBe(1);
      expect(answers.filter(({ headers: said }) => said.get('idempotent-replayed') === null)).toHaveLength(1);
      const audit = await both[1].manage('GET', `/audit?target=${String(made.body['id'])}`);
      expect(audit.body['data']).toHaveLength(2);
      const other = await both[1].manage('POST', '/keys', { name: 'other' }, headers);
      expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
    });

    test('a request that failed at one may be repeated at the other', async () => {
      const headers = { 'idempotency-key': 'again' };
      expect((await both[0].manage('POST', '/keys', { name: 'test' }, headers)).status).toBe(409);
      expect((await both[1].manage('POST', '/keys', { name: 'free' }, headers)).status).toBe(201);
    });
  });
}

holds('workers with one data directory', () => startTwo({}, mkdtempSync(join(tmpdir(), 'dragoman-test-'))));

describe.skipIf(POSTGRES_PROGRAMS === null)('with one PostgreSQL database', () => {
  let url = '';
  holds('replicas', async () => {
    url = await freshPostgres();
    return startTwo({ database_url: url, secret: 'ab'.repeat(32) });
  });

  test('the database cannot read the secret in a stored response', async () => {
    const gateway = await startManaged({ database_url: url, secret: 'ab'.repeat(32) });
    const made = await gateway.manage('POST', '/keys', { name: 'sealed' }, { 'idempotency-key': 'sealed' });
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query('select * from management_answers');
    await client.end();
    await gateway.close();
    const kept = rows.map((row: { sealed: string }) => Buffer.from(row.sealed, 'base64').toString('latin1'));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.join()).not.toContain(String(made.body['key']));
  });
});
