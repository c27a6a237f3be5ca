// Settings of connections to PostgreSQL: its planner prefers indexes and compiles nothing, unless an operator has decided
// otherwise.
import { expect, test } from 'bun:test';
import { openPool } from '../../../src/storage/postgres/pool.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

/** The price of a page, and whether queries are compiled, on a connection of the gateway's. */
async function settingsAt(url: string): Promise<unknown> {
  const pool = openPool({ url, max: 1, statementMs: 5_000, searchPath: 'pg_temp' });
  const client = await pool.connect();
  try {
    const { rows } = await client.query<object>(
      "select current_setting('random_page_cost') as price, current_setting('jit') as jit",
      [],
    );
    return rows;
  } finally {
    client.release();
    await pool.end();
  }
}

test.skipIf(POSTGRES_PROGRAMS === null)('settings of an operator are kept', async () => {
  const url = await freshPostgres();
  expect(await settingsAt(url)).toEqual([{ price: '1.1', jit: 'off' }]);
  expect(await settingsAt(`${url}%20-c%20random_page_cost%3D2`)).toEqual([{ price: '2', jit: 'off' }]);
  expect(await settingsAt(`${url}%20-c%20jit%3Don`)).toEqual([{ price: '1.1', jit: 'on' }]);
});
