// Runner of jobs when it stops or the database fails: no job is left to a process that does not run it.
import { expect, test } from 'bun:test';
import type { JobStore } from '../../../src/accounts/ports/index.ts';
import { createLogger } from '../../../src/base/telemetry/log.ts';
import { JobRunner, type JobWork } from '../../../src/engine/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { undoAfterEach } from '../../support/undo.ts';
import { newJob } from '../../support/storage/new-job.ts';

const JOB = newJob('work');

const ends = undoAfterEach();

/** A runner of one job, whose store is changed. */
async function runnerOf(work: JobWork, change: (jobs: JobStore) => Partial<JobStore>) {
  const clock = new ManualClock();
  const { jobs, close } = await openSqliteStorage({ path: freshPath(), now: clock.wall });
  ends.push(close);
  await jobs.add(JOB, 9);
  const runner = new JobRunner({
    store: { ...jobs, ...change(jobs) },
    kinds: new Map([[JOB.kind, work]]),
    priority: JOB.priority,
    limits: () => ({ concurrent: 10, perProject: 10 }),
    takes: () => true,
    clock,
    log: createLogger({ level: 'silent', now: clock.wall, write: () => {} }),
  });
  ends.push(() => runner.stop());
  return { runner, jobs, clock };
}

test('a job that is being claimed when the runner stops is released, and not begun', async () => {
  const claimed = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<void>();
  let begun = 0;
  const { runner, jobs } = await runnerOf(
    async () => {
      begun += 1;
      return null;
    },
    (store) => ({
      async claim(options) {
        const taken = await store.claim(options);
        claimed.resolve();
        await reply.promise;
        return taken;
      },
    }),
  );
  runner.look();
  await claimed.promise;
  expect(await jobs.get(JOB.id)).toMatchObject({ state: 'running' });
  const stopped = runner.stop();
  reply.resolve();
  await stopped;
  expect(await jobs.get(JOB.id)).toMatchObject({ state: 'queued' });
  expect(begun).toBe(0);
});

test('a job whose work fails while the database is unreachable ends when the database is back', async () => {
  let isAway = true;
  let refused = 0;
  const { runner, jobs, clock } = await runnerOf(
    async () => {
      throw new TypeError('broken');
    },
    (store) => ({
      async finish(...end) {
        if (!isAway) return store.finish(...end);
        refused += 1;
        throw new Error('the database is away');
      },
    }),
  );
  runner.look();
  await eventually('the end was refused', () => refused > 0);
  isAway = false;
  await eventually('the job has failed', async () => {
    clock.advance(1_000);
    return (await jobs.get(JOB.id))?.state === 'failed';
  });
});
