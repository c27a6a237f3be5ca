// Several processes on one database of which none shares limits: noticed, and said where somebody looks.
import { expect, test } from 'bun:test';
import { watchReplicas } from '../../../src/app/cli/compose/watch-replicas.ts';
import type { ReplicaStore, Storage } from '../../../src/accounts/ports/index.ts';
import { openWith } from '../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';
import { freshPostgres, PATIENT, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Processes on one database, each with what it was warned of. @param storageOf what a process of this name opens */
function installation(
  clock: ManualClock,
  storageOf: (self: string) => Pick<Storage, 'replicas'> | Promise<Pick<Storage, 'replicas'>>,
) {
  const start = async (self: string, redisUrl: Secret | null = null) => {
    const warnings: string[] = [];
    const log = { warn: (message: string) => void warnings.push(message) };
    const storage = await storageOf(self);
    return { warnings, ...bound(watchReplicas({ config: { redisUrl }, storage, clock, log, self })) };
  };
  const pass = async (...processes: readonly { readonly look: () => Promise<void> }[]): Promise<void> => {
    clock.advance(10_000);
    for (const each of processes) await each.look();
  };
  return { start, pass };
}

/** The same on a database that is a list in memory, and keeps the time of the clock. */
function inMemory() {
  const clock = new ManualClock();
  const rows = new Map<string, number>();
  const replicas: ReplicaStore = {
    async present(self, forMs) {
      rows.set(self, clock.wall() + forMs);
      return [...rows]
        .filter(([name, until]) => name !== self && until > clock.wall())
        .map(([name, until]) => ({ name, until }));
    },
  };
  return installation(clock, () => ({ replicas }));
}

function bound(watched: ReturnType<typeof watchReplicas>) {
  return {
    look: () => watched.look(),
    degraded: () => watched.degraded(),
    limitsChanged: () => watched.limitsChanged(),
    stop: () => watched.stop(),
  };
}

test('several processes without shared limits get a warning once, and when a limit is created', async () => {
  const { start, pass } = inMemory();
  const [one, other] = [await start('host 1'), await start('host 2')];
  await pass(one, other);
  await pass(one, other);
  await pass(one, other);
  for (const each of [one, other]) {
    expect(each.warnings).toEqual([expect.stringContaining('`redis_url` is not set')]);
    expect(each.degraded()).toHaveLength(1);
    each.limitsChanged();
    expect(each.warnings).toHaveLength(2);
  }
  // The other one ends.
  other.stop();
  for (let looks = 0; looks < 4; looks += 1) await pass(one);
  expect(one.degraded()).toEqual([]);
  one.limitsChanged();
  expect(one.warnings).toHaveLength(2);
});

test('a replica that replaces another one gets no warning, nor does one that shares limits', async () => {
  const { start, pass } = inMemory();
  const before = await start('host 1');
  await pass(before);
  before.stop();
  const after = await start('host 2');
  const sharing = await start('host 3', new Secret('redis://server'));
  for (let looks = 0; looks < 5; looks += 1) await pass(after, sharing);
  expect([after.warnings, after.degraded(), sharing.warnings, sharing.degraded()]).toEqual([[], [], [], []]);
});

test.skipIf(POSTGRES_PROGRAMS === null)(
  'on PostgreSQL, processes that start at once all see each other',
  async () => {
    const url = await freshPostgres();
    const stores: { close(): Promise<void> }[] = [];
    const { start } = installation(new ManualClock(), async () => {
      const storage = await openWith(
        { replicas: POSTGRES_STORES.replicas },
        { url, connections: 1, ...PATIENT },
      );
      stores.push(storage);
      return storage;
    });
    const processes = await Promise.all(['1', '2', '3', '4', '5'].map((name) => start(`host ${name}`)));
    for (const _look of [1, 2, 3, 4, 5]) await Promise.all(processes.map((each) => each.look()));
    expect(processes.map(({ degraded }) => degraded().length)).toEqual([1, 1, 1, 1, 1]);
    await Promise.all(stores.map((storage) => storage.close()));
  },
);
