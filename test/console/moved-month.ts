// Moves a data directory of tests into PostgreSQL, as `dragoman migrate` does, and tidies up as the server does in time.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { moveAll, openSource, openTarget } from '../../src/storage/moving/move.ts';
import { freshPostgres } from '../support/servers/postgres.ts';

const SECRET = 'ab'.repeat(32);
const secrets = [Buffer.from(SECRET, 'hex')];

/** @returns settings of a gateway that uses the database */
export async function moveToPostgres(
  original: string,
): Promise<{ readonly database_url: string; readonly secret: string }> {
  const url = await freshPostgres();
  // A copy, because this process may release the locks of the original late.
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-moved-'));
  cpSync(original, dataDir, { recursive: true });
  const source = await openSource({ dataDir, secrets, notice: () => {} });
  const target = await openTarget(url, () => {});
  await moveAll({
    source,
    target,
    dataDir,
    withBytes: true,
    secrets,
    moved: () => {},
    last: () => Promise.resolve(),
  });
  await target.close();
  await source.close();
  rmSync(dataDir, { recursive: true });
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('vacuum analyze');
  await client.end();
  return { database_url: url, secret: SECRET };
}
