// The key that a gateway makes when nobody could use it: one, also of several that start on a new database at the same moment.
import { describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

const TOGETHER = 3;

describe.skipIf(POSTGRES_PROGRAMS === null)('gateways that start together on a new database', () => {
  test('create one first key, which is valid at all of them', async () => {
    const config = { database_url: await freshPostgres(), secret: 'ab'.repeat(32), keys: [] };
    const gateways = await Promise.all(Array.from({ length: TOGETHER }, () => startGateway(config)));
    const [key, ...others] = gateways.map(({ firstKey }) => firstKey).filter((made) => made !== null);
    expect(key).toStartWith('sk-');
    expect(others).toEqual([]);
    for (const { baseURL } of gateways) {
      const answer = await fetch(`${baseURL}/models`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status).toBe(200);
    }
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });
});
