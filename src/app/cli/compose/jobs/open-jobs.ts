// Opens the job queue and its runners in this process.
import {
  ANSWER_KIND,
  BATCH_KIND,
  type BatchDependencies,
  Batches,
  batchEvent,
  BatchPace,
  BackgroundResponses,
  decideInterruptedTries,
  expiryOf,
  JobRunner,
  type JobRunnerOptions,
  type JobWork,
  makeAnswer,
  makeResponse,
  RESPONSE_KIND,
  responseEvent,
  runBatch,
  type WorkDependencies,
} from '../../../../engine/index.ts';
import type { ManagementDependencies } from '../../../../operations/management/index.ts';
import { type Announcer, type JobCount, PRIORITY, type Storage } from '../../../../accounts/ports/index.ts';
import type { RecentDelay } from '../../../../base/telemetry/recent-delay.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import type { MemoryBudget } from '../../../../server/body/memory-budget.ts';
import type { Accounts } from '../open-accounts.ts';
import type { Engine } from '../open-engine.ts';
import type { Settings } from '../open-settings.ts';
import { openJobNotices } from './job-notices.ts';
import type { Part } from '../part.ts';

/** Maximum age of counts, in milliseconds. */
const COUNTS_MS = 5_000;
const DAY_MS = 86_400_000;

interface JobsParts {
  readonly engine: Engine;
  readonly storage: Storage;
  readonly accounts: Pick<Accounts, 'keys'>;
  readonly settings: Settings;
  readonly memory: MemoryBudget;
  /** Recent event loop delay. */
  readonly delay: RecentDelay;
  /** Sends events to webhook receivers. */
  readonly announcer: Announcer;
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  readonly clock: Clock;
}

export interface Jobs {
  readonly background: BackgroundResponses;
  readonly batches: Batches;
  readonly runner: JobRunner;
  readonly part: Part;
  readonly administration: ManagementDependencies['jobs'];
  readonly batchAdministration: ManagementDependencies['batches'];
  /** Last known counts, refreshed when they are too old. */
  readonly counts: () => readonly JobCount[];
  /** Number of batch lines that are being answered in this process. */
  readonly lines: () => number;
}

export function openJobs(parts: JobsParts): Jobs {
  const { engine, storage, accounts, settings, memory, delay, announcer, takes, clock } = parts;
  const { gateway, dependencies, streams, files } = engine;
  const { log, config } = settings;
  const keepMs = (): number | null => {
    const { keepDays } = config().jobs;
    return keepDays === null ? null : keepDays * DAY_MS;
  };
  const weightOf = (projectId: string): number => config().jobs.weights[projectId] ?? 1;
  const working: WorkDependencies = {
    serve: (call) => gateway.serve(call),
    streams,
    storage,
    keyById: (keyId) => accounts.keys.keyById(keyId, clock.wall()),
    account: (keyId) => memory.open(keyId),
    settings: () => ({ totalMs: config().jobs.totalS * 1000, maxWaitMs: config().jobs.maxWaitS * 1000 }),
    takes,
    clock,
    log,
  };
  let lines = 0;
  const running: BatchDependencies = {
    engine: dependencies,
    storage,
    files,
    async serve(call, task) {
      lines += 1;
      try {
        return await gateway.serve(call, task);
      } finally {
        lines -= 1;
      }
    },
    keyById: working.keyById,
    account: working.account,
    pace: new BatchPace({
      limits: () => config().batches,
      delayMs: () => delay.p99,
      weightOf,
    }),
    settings: () => {
      const { maxLines: lines, maxRequests: requests, vendorPollS, ...rest } = config().batches;
      const most = { lines, requests };
      const maxLineBytes = config().server.bodyLimitBytes;
      const totalMs = config().jobs.totalS * 1000;
      return { ...rest, most, maxLineBytes, totalMs, vendorPollMs: vendorPollS * 1000 };
    },
    takes,
    clock,
    log,
  };
  const following: NonNullable<JobRunnerOptions['following']> = {
    async jobsOf(job, end) {
      if (job.kind === BATCH_KIND) {
        const event = await batchEvent(job, storage.batches);
        return event ? announcer.deliveriesOf(event) : [];
      }
      if (job.kind !== RESPONSE_KIND) return [];
      const event = await responseEvent(job, end, storage.responses, clock.wall());
      return announcer.deliveriesOf(event);
    },
    added: () => announcer.wake(),
  };
  // SQLite is used on one machine, whose workers poll every second.
  const notices = storage.notices && openJobNotices(storage.notices, clock);
  const runner = new JobRunner({
    passOn: notices?.publish,
    store: storage.jobs,
    kinds: new Map<string, JobWork>([
      [RESPONSE_KIND, (run) => makeResponse(run, working)],
      [ANSWER_KIND, (run) => makeAnswer(run, working)],
      [BATCH_KIND, (run) => runBatch(run, running)],
    ]),
    priority: PRIORITY.batch,
    following,
    keepMs,
    limits: () => {
      const { concurrent, concurrentPerProject: perProject } = config().jobs;
      return { concurrent, perProject };
    },
    takes,
    clock,
    log,
  });
  const background = new BackgroundResponses({
    engine: dependencies,
    storage,
    runner,
    following,
    streams,
    settings: () => ({
      isTemporaryAllowed: config().background.temporary,
      maxOpen: config().jobs.maxOpen,
      keepMs: keepMs(),
      weightOf,
    }),
    clock,
  });
  const batches = new Batches({
    storage,
    files,
    runner,
    settings: () => ({
      ...config().batches,
      weightOf,
      maxOpen: config().jobs.maxOpen,
      maxLineBytes: config().server.bodyLimitBytes,
    }),
    expiresAt: (now) => expiryOf(settings.snapshot(), now),
    clock,
  });
  const listening = notices?.listen(() => runner.look());
  const stops: (() => void)[] = [];
  const part: Part = {
    start() {
      runner.start();
      listening?.start?.();
      stops.push(background.start());
      const tries = storage.interruptedTries;
      if (tries) stops.push(decideInterruptedTries({ tries, storage, clock, log }));
    },
    stop() {
      for (const stop of stops) stop();
      void listening?.stop?.();
      return runner.stop();
    },
  };
  const administration: ManagementDependencies['jobs'] = {
    store: storage.jobs,
    cancel: ({ projectId, id, kind }) =>
      kind === BATCH_KIND ? batches.cancel(projectId, id) : background.cancel(projectId, id),
    async retry(id) {
      const job = await storage.jobs.retry(id);
      if (job) runner.wake();
      return job;
    },
  };
  const batchAdministration: ManagementDependencies['batches'] = {
    store: storage.batches,
    cancel: ({ projectId, id }) => batches.cancel(projectId, id),
  };
  let counted: readonly JobCount[] = [];
  let countedAt = -COUNTS_MS;
  const counts = (): readonly JobCount[] => {
    if (clock.now() - countedAt >= COUNTS_MS) {
      countedAt = clock.now();
      storage.jobs.counts().then(
        (found) => (counted = found),
        () => {},
      );
    }
    return counted;
  };
  return {
    background,
    batches,
    runner,
    part,
    administration,
    batchAdministration,
    counts,
    lines: () => lines,
  };
}
