// Settings of connections to PostgreSQL: its planner prefers indexes, unless an operator has set the price of a page.
import { expect, test } from 'bun:test';
import { openPool } from '../../../src/storage/postgres/pool.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

/** The price of a page on a connection of the gateway's. */
async function priceAt(url: string): Promise<unknown> {
  const pool = openPool({ url, max: 1, statementMs: 5_000, searchPath: 'pg_temp' });
  const client = await pool.connect();
  try {
    const { rows } = await client.query<object>('show random_page_cost', []);
    return rows;
  } finally {
    client.release();
    await pool.end();
  }
}

test.skipIf(POSTGRES_PROGRAMS === null)('a price that an operator has set stays', async () => {
  const url = await freshPostgres();
  expect(await priceAt(url)).toEqual([{ random_page_cost: '1.1' }]);
  expect(await priceAt(`${url}%20-c%20random_page_cost%3D2`)).toEqual([{ random_page_cost: '2' }]);
});
