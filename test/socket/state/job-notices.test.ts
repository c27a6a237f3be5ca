// A job that finds no room at the replica that takes it begins at another one at once, which PostgreSQL tells.
import { expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';

test.skipIf(POSTGRES_PROGRAMS === null)(
  'a notification starts a job at another replica that does not poll',
  async () => {
    const shared = { database_url: await freshPostgres(), secret: 'ab'.repeat(32) };
    const full = await startGateway({ ...shared, jobs: { concurrent: 0 } });
    // Time stands still there, so that its runner never looks by itself.
    const idle = await startGateway(shared, { clock: new ManualClock(Date.now()) });
    try {
      const ids: string[] = [];
      await eventually('the first answer is there', async () => {
        // A notice that comes before the other one listens is lost.
        const body = { model: 'sim/chat', input: 'Hello', background: true };
        ids.push(((await (await full.post('/responses', body)).json()) as { id: string }).id);
        const first = await full.get(`/responses/${ids[0]}`);
        return ((await first.json()) as { status: string }).status === 'completed';
      });
      expect(ids[0]).toStartWith('resp_');
    } finally {
      await Promise.all([full.close(), idle.close()]);
    }
  },
);
