// Writer of a batch's lines when the database fails.
import { expect, test } from 'bun:test';
import { createLogger } from '../../../src/base/telemetry/log.ts';
import { LineWriter } from '../../../src/engine/batches/line-writer.ts';
import { Cancellation } from '../../../src/engine/cancellation.ts';
import { CANCELLED, type JobRun, LOST } from '../../../src/engine/jobs/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';

const LINE = { number: 1, kind: 'succeeded', result: Buffer.from('{}'), spend: null, failure: null } as const;

/** Writes a line to a store that fails once, in a batch that was stopped for a reason. */
async function writeOnce(reason: typeof CANCELLED): Promise<number> {
  const clock = new ManualClock();
  const cancellation = new Cancellation();
  cancellation.cancel(reason);
  let writes = 0;
  const writer = new LineWriter({
    run: { job: { id: 'batch_1', fence: 1 }, cancellation } as unknown as JobRun,
    batches: {
      ask: async () => true,
      async endLines() {
        writes += 1;
        if (writes > 1) return true;
        // The pause before the next try.
        setImmediate(() => clock.advance(1_000));
        throw new Error('the database is away');
      },
    },
    clock,
    log: createLogger({ level: 'silent', now: clock.wall, write: () => {} }),
  });
  await writer.end(LINE);
  return writes;
}

test('the result of a cancelled batch is written again until it is stored', async () => {
  expect(await writeOnce(CANCELLED)).toBe(2);
});

test('the result of a batch that another process has taken over is left to that process', async () => {
  expect(await rejection(writeOnce(LOST))).toBe(LOST);
});
