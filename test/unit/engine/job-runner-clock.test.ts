// Jobs of two processes with one SQLite database, when the clock of their machine is set: a running job is not run a second time.
import { expect, test } from 'bun:test';
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { JobRunner } from '../../../src/engine/index.ts';
import { createLogger } from '../../../src/base/telemetry/log.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { undoAfterEach } from '../../support/undo.ts';
import { newJob } from '../../support/storage/new-job.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
const JOB = newJob('long');

const ends = undoAfterEach();

/** Processes of one database, whose jobs never end. */
async function processes(clock: ManualClock, count: number) {
  const path = freshPath();
  const begun: number[] = [];
  const storages: Storage[] = [];
  for (let number = 0; number < count; number += 1) {
    const storage = await openSqliteStorage({ path, now: clock.wall });
    storages.push(storage);
    const runner = new JobRunner({
      store: storage.jobs,
      kinds: new Map([
        [
          JOB.kind,
          () => {
            begun.push(number);
            return new Promise<never>(() => {});
          },
        ],
      ]),
      priority: JOB.priority,
      limits: () => ({ concurrent: 10, perProject: 10 }),
      takes: () => true,
      clock,
      log: createLogger({ level: 'silent', now: clock.wall, write: () => {} }),
    });
    runner.start();
    ends.push(async () => {
      await runner.stop();
      await storage.close();
    });
  }
  const [{ jobs }] = storages as [Storage];
  /** Lets seconds pass, and what is done in each. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(SECOND);
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    }
  };
  return { jobs, begun, pass };
}

test('a job that runs is left to its process when the clock is set forward or back', async () => {
  const clock = new ManualClock();
  const { jobs, begun, pass } = await processes(clock, 2);
  await jobs.add(JOB, 9);
  // Between two renewals of its lease.
  await pass(4);
  expect(begun).toHaveLength(1);
  for (const step of [HOUR, -2 * HOUR, 3 * HOUR]) {
    clock.step(step);
    await pass(30);
  }
  expect(begun).toHaveLength(1);
  expect(await jobs.get(JOB.id)).toMatchObject({ state: 'running', attempt: 1 });
});

test('a job of a dead process is taken over after the clock was set', async () => {
  const clock = new ManualClock();
  const { jobs, begun, pass } = await processes(clock, 1);
  await jobs.add(JOB, 9);
  const dead = { owner: 'dead', leaseMs: 15 * SECOND, limit: 1, kinds: [JOB.kind], perProject: 1 };
  expect(await jobs.claim({ ...dead, priority: 9, running: [], takesOver: true })).toHaveLength(1);
  clock.step(HOUR);
  await pass(4);
  expect(begun).toEqual([]);
  await pass(4);
  expect(begun).toEqual([0]);
});
