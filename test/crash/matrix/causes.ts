// Causes of failure: each begins, lasts, and is over when its function returns; its caller looks then whether all
// recovers. What an operator's machines do by themselves (a process manager starts what was killed) is part of it.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Chance } from '../../support/simulated-world.ts';
import { CLOCK_SHIFTER, type Cluster } from './cluster.ts';

export interface Cause {
  readonly name: string;
  /** Share of the budget by which it may be overspent meanwhile; docs/limits.md says why. */
  readonly mayOverspend: number;
  /**
   * True where an idempotency key may get a second answer meanwhile: processes cannot have answers from each other, or one of them
   * that had it is gone (docs/idempotency.md).
   */
  readonly mayAnswerAnew: boolean;
  /** Why it cannot be tried here; null where it can. */
  readonly missing?: (cluster: Cluster) => string | null;
  run(cluster: Cluster, chance: Chance): Promise<void>;
}

/** While nobody shares counters, each goes on with its part of what was left: what others used since may be spent twice. */
const ALONE = 1 / 3;
/** Reservations of a killed process count as used; its running answers cost what they cost. */
const KILLED = 0;

const SECOND = 1_000;

export const CAUSES: readonly Cause[] = [
  {
    name: 'SIGKILL of a replica',
    mayOverspend: KILLED,
    mayAnswerAnew: true,
    async run({ replicas }, chance) {
      const replica = chance.of(replicas);
      replica.signal('SIGKILL');
      await replica.gone();
      await Bun.sleep(SECOND);
      replica.start();
    },
  },
  {
    name: 'PostgreSQL stopped at once, and started',
    mayOverspend: 0,
    mayAnswerAnew: false,
    async run({ postgres }, chance) {
      await postgres.kill();
      await Bun.sleep(chance.whole(1 * SECOND, 3 * SECOND));
      await postgres.start();
    },
  },
  {
    name: 'SIGSTOP of a replica',
    mayOverspend: ALONE,
    mayAnswerAnew: true,
    async run({ replicas }, chance) {
      const replica = chance.of(replicas);
      replica.signal('SIGSTOP');
      await Bun.sleep(chance.whole(2 * SECOND, 5 * SECOND));
      replica.signal('SIGCONT');
    },
  },
  {
    name: 'counters stopped, and started empty',
    mayOverspend: ALONE,
    mayAnswerAnew: true,
    async run({ valkey }, chance) {
      await valkey.kill();
      await Bun.sleep(chance.whole(1 * SECOND, 3 * SECOND));
      await valkey.start();
    },
  },
  {
    name: 'counters flushed',
    mayOverspend: ALONE,
    mayAnswerAnew: true,
    async run({ valkey }) {
      await valkey.send('FLUSHALL');
    },
  },
  {
    name: 'counters silent (SIGSTOP)',
    mayOverspend: ALONE,
    mayAnswerAnew: true,
    async run({ valkey }, chance) {
      process.kill(valkey.pid, 'SIGSTOP');
      await Bun.sleep(chance.whole(2 * SECOND, 4 * SECOND));
      process.kill(valkey.pid, 'SIGCONT');
    },
  },
  {
    name: 'PostgreSQL silent (SIGSTOP)',
    mayOverspend: 0,
    mayAnswerAnew: false,
    async run({ postgres }, chance) {
      const processes = [postgres.pid, ...postgres.backends()];
      for (const pid of processes) signalIfThere(pid, 'SIGSTOP');
      await Bun.sleep(chance.whole(2 * SECOND, 4 * SECOND));
      for (const pid of processes) signalIfThere(pid, 'SIGCONT');
    },
  },
  ...(['toPostgres', 'toValkey'] as const).flatMap((network) =>
    (['refused', 'silent'] as const).map((state): Cause => ({
      name: `one replica's network ${network === 'toPostgres' ? 'to PostgreSQL' : 'to the counters'} ${state}`,
      mayOverspend: network === 'toValkey' ? ALONE : 0,
      mayAnswerAnew: network === 'toValkey',
      async run({ replicas }, chance) {
        const replica = chance.of(replicas);
        replica[network].become(state);
        await Bun.sleep(chance.whole(2 * SECOND, 4 * SECOND));
        replica[network].become('whole');
      },
    })),
  ),
  {
    name: 'full disk for a spool, without its database',
    mayOverspend: 0,
    mayAnswerAnew: false,
    missing: ({ smallDisk }) => (smallDisk === null ? 'no file system can be mounted here' : null),
    async run({ replicas, smallDisk }) {
      const [replica] = replicas;
      if (!replica || smallDisk === null) return;
      const ballast = join(smallDisk, 'ballast');
      // The ballast takes all that is left of the disk.
      spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']);
      replica.toPostgres.become('refused');
      await Bun.sleep(2 * SECOND);
      replica.toPostgres.become('whole');
      await Bun.sleep(SECOND);
      rmSync(ballast);
    },
  },
  {
    name: 'clocks 5 s apart, set forward and back',
    mayOverspend: 0,
    mayAnswerAnew: false,
    missing: () => (CLOCK_SHIFTER === null ? 'libfaketime is not installed' : null),
    async run({ replicas }) {
      const [first, second] = replicas;
      first?.shiftClock(5);
      second?.shiftClock(-5);
      await Bun.sleep(4 * SECOND);
      for (const replica of replicas) replica.shiftClock(0);
      // The library looks once a second.
      await Bun.sleep(SECOND);
    },
  },
];

function signalIfThere(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // A connection that was closed meanwhile.
  }
}
