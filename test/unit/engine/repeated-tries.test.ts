// Tries of jobs after the first: what is read for them, what readers of the stream see, and who charges a try whose process
// was killed.
import { expect, test } from 'bun:test';
import type { HeldJob, RunningRecord, Storage } from '../../../src/accounts/ports/index.ts';
import { Cancellation } from '../../../src/engine/cancellation.ts';
import { KeptStreams } from '../../../src/engine/index.ts';
import {
  type JobRun,
  LOST,
  makeResponse,
  settleTry,
  type WorkDependencies,
} from '../../../src/engine/jobs/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
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

/** A run of the job, and the streams of its process. @param keepStream what storing the stream does */
function runOf(keepStream: () => Promise<boolean>) {
  const clock = new ManualClock();
  const streams = new KeptStreams(() => ({ keepMs: 1_000, maxBytes: 1_000_000 }), clock);
  let reads = 0;
  const run = {
    job: JOB,
    cancellation: new Cancellation(),
    store: {
      async steps() {
        reads += 1;
        return [];
      },
      keepStream,
    },
    stored: (access: () => Promise<unknown>) => access(),
  } as unknown as JobRun;
  const storage = { responses: { find: async () => null } };
  const deps = { streams, storage, clock } as unknown as WorkDependencies;
  return { run, deps, streams, reads: () => reads };
}

/** Reads the stream that the job has so far. @param names of its events @returns what the reader knows */
function readerOf(streams: KeptStreams, names: readonly string[]): { text: string; hasEnded: boolean } {
  const got = { text: '', hasEnded: false };
  const earlier = {
    id: PAYLOAD.id,
    projectId: JOB.projectId,
    headers: {},
    writesIds: false,
    patience: Infinity,
  };
  const stream = streams.open(earlier);
  stream.join(
    {
      respond: () => {},
      onLeave: () => {},
      openStream: () => ({
        write(data) {
          got.text += data;
          return true;
        },
        onDrain: () => {},
        end: () => void (got.hasEnded = true),
      }),
    },
    null,
  );
  for (const name of names) stream.write(`event: response.${name}\ndata: {}\n\n`, 'text');
  return got;
}

test('the steps of earlier tries are read once for each try', async () => {
  const { run, deps, reads } = runOf(async () => true);
  expect(await makeResponse(run, deps)).toMatchObject({
    end: { state: 'failed', error: { message: 'The gateway stopped 10 times during this response.' } },
  });
  expect(reads()).toBe(1);
});

test('readers of a stream see its end when the work of the job breaks', async () => {
  const { run, deps, streams } = runOf(() => Promise.reject(LOST));
  const reader = readerOf(streams, ['created', 'queued']);
  expect(await rejection(makeResponse(run, deps))).toBe(LOST);
  expect(reader).toMatchObject({ hasEnded: true });
  expect(reader.text).not.toContain('response.failed');
});

test('readers of an interrupted try see its end when the next one begins', async () => {
  const { run, deps, streams } = runOf(async () => true);
  const reader = readerOf(streams, ['created', 'queued', 'in_progress']);
  await makeResponse(run, deps);
  expect(reader).toMatchObject({ hasEnded: true });
  expect(reader.text).not.toContain('response.failed');
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
