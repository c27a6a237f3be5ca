// Tries of jobs after the first: what is read for them, and who charges a try whose process was killed.
import { expect, test } from 'bun:test';
import type { HeldJob, RunningRecord, Storage } from '../../../src/accounts/ports/index.ts';
import { Cancellation } from '../../../src/engine/cancellation.ts';
import { KeptStreams } from '../../../src/engine/index.ts';
import {
  type JobRun,
  makeResponse,
  settleTry,
  type WorkDependencies,
} from '../../../src/engine/jobs/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const PAYLOAD = {
  model: 'acme/small',
  id: 'gen_1',
  protocol: 'openai-responses',
  api: 'responses',
  url: '/v1/responses',
  headers: [],
  body: '{"model":"acme/small","input":"Hello"}',
  createdAt: 0,
  queued: { id: 'resp_gen_1', object: 'response', status: 'queued' },
};
/** The eleventh try of a job that waited, after ten processes died with it. */
const JOB: HeldJob = {
  id: 'resp_gen_1',
  kind: 'response',
  projectId: 'project_a',
  keyId: 'key_a',
  model: 'acme/small',
  eventType: null,
  state: 'running',
  priority: 1,
  lane: null,
  attempt: 11,
  isCancelRequested: false,
  waits: { reason: 'The disk is full.', sinceMs: 0 },
  error: null,
  createdAt: 0,
  startedAt: 0,
  endedAt: null,
  expiresAt: null,
  payload: JSON.stringify(PAYLOAD),
  deaths: 10,
  fence: 11,
};

test('the steps of earlier tries are read once for each try', async () => {
  let reads = 0;
  const clock = new ManualClock();
  const limits = { keepMs: 1_000, maxBytes: 1_000_000 };
  const run = {
    job: JOB,
    cancellation: new Cancellation(),
    store: {
      async steps() {
        reads += 1;
        return [];
      },
      keepStream: async () => true,
    },
    stored: (access: () => Promise<unknown>) => access(),
  } as unknown as JobRun;
  const deps = {
    streams: new KeptStreams(() => limits, clock),
    storage: { responses: { find: async () => null } },
    clock,
  } as unknown as WorkDependencies;
  expect(await makeResponse(run, deps)).toMatchObject({
    end: { state: 'failed', error: { message: 'The gateway stopped 10 times during this response.' } },
  });
  expect(reads).toBe(1);
});

for (const [database, hasReplicas] of [
  ['SQLite', false],
  ['PostgreSQL', true],
] as const)
  test(`a try whose mark is in no file here is ${hasReplicas ? 'left to another replica' : 'charged'} with ${database}`, async () => {
    const charged: string[] = [];
    const left: string[] = [];
    const record: RunningRecord = {
      generation: generation('gen_1'),
      attempt: attempt('att_1', 'gen_1'),
      inputTokens: 10,
    };
    const storage = {
      ledger: { append: ({ id }: { readonly id: string }) => void charged.push(id) },
      marks: { open: () => null, stateOf: () => 'elsewhere' },
      interruptedTries: hasReplicas
        ? { add: async ({ recordId }: { readonly recordId: string }) => void left.push(recordId) }
        : null,
    } as unknown as Storage;
    await settleTry({ record, price: null, mark: '0123456789abcdef:1:1', deaths: 0 }, JOB, storage);
    expect({ charged, left }).toEqual(
      hasReplicas ? { charged: [], left: ['gen_1'] } : { charged: ['gen_1'], left: [] },
    );
  });
