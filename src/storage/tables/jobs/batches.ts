// Batches and their lines. Writes of a runner check the fence of its job in the same transaction, so that each line ends and
// counts exactly once.
import { sql } from 'kysely';
import { GatewayError, notFound } from '../../../canonical/index.ts';
import {
  type BatchStore,
  type EndedLine,
  KEPT_FAILURES,
  type LineKind,
  type LineSpend,
} from '../../../accounts/ports/index.ts';
import { jobAdder } from './add-jobs.ts';
import {
  BATCH_ASKED,
  BATCH_FAILURES,
  BATCH_LINES,
  BATCH_STATUS,
  BATCHES,
  type BatchRow,
  decodeBatch,
} from './batch-tables.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import { FILES } from '../files/files.ts';
import { inserter } from '../insert.ts';
import { JOB_STEPS, JOB_STREAMS, JOBS } from './job-tables.ts';
import { ownJob } from './own-job.ts';
import { newestFirst, pageAfter } from '../pages.ts';
import { NEVER } from '../sizes.ts';

/** Lines that one statement deletes. */
const FORGOTTEN = 1_000;
const ON_LINE = ['batch_id', 'number'] as const;

export const batches: Store<BatchStore> = {
  tables: [BATCHES, BATCH_LINES, BATCH_ASKED, BATCH_FAILURES],
  open: openBatches,
};

function openBatches(database: StateDatabase): BatchStore {
  const { on, dialect, transact, ask, read, readFirst, clock } = database;
  const db = on(BATCHES, BATCH_LINES, BATCH_ASKED, BATCH_FAILURES, FILES, JOBS, JOB_STEPS, JOB_STREAMS);
  const isOwn = ownJob(database);
  const { add: addJob } = jobAdder(database);
  const insertLines = inserter<{ number: number }>(database, BATCH_LINES, {
    conflict: { on: ON_LINE },
    returning: ['number'],
  });
  const insertFailures = inserter(database, BATCH_FAILURES, { conflict: { on: ON_LINE } });
  const insertAsked = inserter(database, BATCH_ASKED, { conflict: { on: ON_LINE, update: ['detail'] } });

  const all = () =>
    db
      .selectFrom('batches as b')
      .leftJoin(
        (eb) => eb.selectFrom('jobs').select(['id as job_id', 'state', 'waits_for', 'waits_since']).as('j'),
        (join) => join.onRef('j.job_id', '=', 'b.id'),
      )
      .selectAll('b')
      .select(['j.state', 'j.waits_for', 'j.waits_since', BATCH_STATUS.as('status')]);
  const ofProject = (projectId: string, id: string) =>
    all().where('b.id', '=', id).where('b.project_id', '=', projectId);

  /** Runs changes if the fence still holds the job of a batch. @returns false if it does not */
  const underFence = (id: string, fence: number, change: () => Queries<void>): Promise<boolean> =>
    transact(function* () {
      if (!(yield* isOwn(id, fence))) return false;
      yield* change();
      return true;
    });

  const update = (id: string) => db.updateTable('batches').where('id', '=', id);

  function* forgetLines(id: string): Queries<number> {
    const numbers = db.selectFrom('batch_lines').select('number').where('batch_id', '=', id);
    const gone = yield* rowsOf(
      db
        .deleteFrom('batch_lines')
        .where('batch_id', '=', id)
        .where('number', 'in', numbers.orderBy('number').limit(FORGOTTEN))
        .returning('number'),
    );
    yield db.deleteFrom('batch_asked').where('batch_id', '=', id);
    return gone.length;
  }

  /** Stores failed lines for operators, up to `KEPT_FAILURES`. */
  function* keepFailures(id: string, lines: readonly EndedLine[]): Queries<void> {
    const failed = lines.flatMap(({ number, failure }) => (failure ? [{ ...failure, number }] : []));
    if (failed.length === 0) return;
    const before = yield* firstOf(db.selectFrom('batches').select('failed').where('id', '=', id));
    const room = Math.max(0, KEPT_FAILURES - (before?.failed ?? 0));
    yield* insertFailures(failed.slice(0, room).map((failure) => ({ ...failure, batch_id: id })));
  }

  function* remove(id: string): Queries<void> {
    yield db.deleteFrom('job_steps').where('job_id', '=', id);
    yield db.deleteFrom('job_streams').where('job_id', '=', id);
    yield db.deleteFrom('jobs').where('id', '=', id);
    while ((yield* forgetLines(id)) === FORGOTTEN);
    yield db.deleteFrom('batch_failures').where('batch_id', '=', id);
    yield db.deleteFrom('batches').where('id', '=', id);
  }

  const decodeOne = (row: object | undefined) => (row ? decodeBatch(row as BatchRow) : null);
  const findOne = async (projectId: string, id: string) =>
    decodeOne(await readFirst(ofProject(projectId, id)));

  return {
    add: (batch, job, maxOpen) =>
      transact(function* () {
        const { id, projectId, keyId, inputFile, expiresAt } = batch;
        const input = db.selectFrom('files').select('id').where('id', '=', inputFile);
        // Locked, so that it cannot be deleted at the same time.
        if (!(yield* firstOf(dialect.held(input.where('key_id', '=', projectId)))))
          throw notFound('File', inputFile);
        yield* addJob({ ...job, id, projectId, keyId, expiresAt }, maxOpen);
        yield db.insertInto('batches').values({
          id,
          project_id: projectId,
          key_id: keyId,
          protocol: batch.protocol,
          input_file: inputFile,
          facts: batch.facts,
          created_at: clock(),
          deadline_at: sql<number>`${clock()} + ${batch.windowMs}`,
          expires_at: expiresAt ?? NEVER,
          ...NO_COUNTS,
          has_lines: 0,
        });
        const added = decodeOne(yield* firstOf(ofProject(projectId, id)));
        if (!added) throw new GatewayError('internal', 'The batch could not be added.');
        return added;
      }),
    find: findOne,
    async get(id) {
      return decodeOne(await readFirst(all().where('b.id', '=', id)));
    },
    async list(projectId, protocol, page) {
      const query = all().where('b.project_id', '=', projectId).where('b.protocol', '=', protocol);
      const find = (id: string) => firstOf(query.where('b.id', '=', id));
      const { rows, hasMore } = await ask(() => pageAfter(query, page, 'batch', find));
      return { batches: rows.map((row) => decodeBatch(row as BatchRow)), hasMore };
    },
    async search({ project, protocol, statuses, after, limit }) {
      let query = all();
      if (project !== undefined) query = query.where('b.project_id', '=', project);
      if (protocol !== undefined) query = query.where('b.protocol', '=', protocol);
      if (statuses !== undefined) query = query.where(BATCH_STATUS, 'in', statuses);
      const { rows, hasMore } = await newestFirst(database, ['batches', 'batch'], query, { after, limit });
      return { batches: rows.map((row) => decodeBatch(row as BatchRow)), hasMore };
    },
    async counts() {
      const counted = db
        .selectFrom('batches as b')
        .select([BATCH_STATUS.as('status'), sql<number>`count(*)`.as('batches')])
        .groupBy(BATCH_STATUS);
      return read(counted);
    },
    async failures(id, after, limit) {
      const found = db
        .selectFrom('batch_failures')
        .select(['number', 'name', 'generation', 'status', 'code', 'message'])
        .where('batch_id', '=', id)
        .where('number', '>', after);
      return read(found.orderBy('number').limit(limit));
    },
    begin: (id, fence, total, problems) =>
      underFence(id, fence, function* () {
        yield update(id).set({ total, problems, began_at: sql`coalesce(began_at, ${clock()})` });
      }),
    ask: (id, fence, lines) =>
      underFence(id, fence, function* () {
        yield* insertAsked(lines.map((line) => ({ ...line, batch_id: id })));
      }),
    endLines: (id, fence, lines) =>
      underFence(id, fence, function* () {
        const rows = lines.map(({ number, kind, result }) => ({ batch_id: id, number, kind, result }));
        const added = new Set((yield* insertLines(rows)).map(({ number }) => number));
        const ended = lines.filter(({ number }) => added.has(number));
        yield* keepFailures(id, ended);
        yield update(id).set(grownBy(ended));
        yield db
          .deleteFrom('batch_asked')
          .where('batch_id', '=', id)
          .where(
            dialect.among(
              'number',
              lines.map(({ number }) => number),
            ),
          );
      }),
    async asked(id) {
      return read(db.selectFrom('batch_asked').select(['number', 'detail']).where('batch_id', '=', id));
    },
    async endedNumbers(id, after, limit) {
      const rows = await read(linesBehind(id, after, limit).select('number'));
      return rows.map(({ number }) => number);
    },
    async ended(id, after, limit) {
      const rows = await read(linesBehind(id, after, limit).select(['number', 'kind', 'result']));
      return rows.map(({ number, kind, result }) => ({ number, kind: kind as LineKind, result }));
    },
    finalize: (id, fence) =>
      underFence(id, fence, function* () {
        yield update(id).set({ finalizing_at: sql`coalesce(finalizing_at, ${clock()})` });
      }),
    end: (id, fence, { outcome, outputFile, errorFile, problems, rest }) =>
      underFence(id, fence, function* () {
        yield update(id).set({
          outcome,
          output_file: outputFile,
          error_file: errorFile,
          problems,
          ended_at: clock(),
          has_lines: 1,
          [rest.kind]: sql`${sql.ref(rest.kind)} + ${rest.lines}`,
        });
      }),
    async cancel(projectId, id) {
      await transact(function* () {
        const asked = yield* firstOf(
          update(id)
            .set({ cancel_at: sql`coalesce(cancel_at, ${clock()})` })
            .where('project_id', '=', projectId)
            .where('outcome', 'is', null)
            .returning('row'),
        );
        if (!asked) return;
        const job = db.updateTable('jobs').where('id', '=', id);
        yield job.set({ cancel: 1 }).where('state', '=', 'running');
        yield job
          .set({ cancel: 1, state: 'queued', run_after: 0, home: null })
          .where('state', 'in', ['queued', 'waiting']);
      });
      return findOne(projectId, id);
    },
    delete: (projectId, id) =>
      transact(function* () {
        const row = yield* firstOf(
          dialect.held(
            db.selectFrom('batches').select('id').where('id', '=', id).where('project_id', '=', projectId),
          ),
        );
        if (!row) return false;
        yield* remove(row.id);
        return true;
      }),
    async purge(nowMs) {
      const byExpiry = db.selectFrom('batches').select('id').where('expires_at', '<=', nowMs);
      const withLines = db.selectFrom('batches').select('id').where('has_lines', '=', 1);
      return transact(function* () {
        const expired = yield* firstOf(dialect.heldFree(byExpiry.orderBy('expires_at').limit(1)));
        if (expired) {
          yield* remove(expired.id);
          return 1;
        }
        const ended = yield* firstOf(dialect.heldFree(withLines.orderBy('ended_at').limit(1)));
        if (!ended) return 0;
        const gone = yield* forgetLines(ended.id);
        if (gone < FORGOTTEN) yield update(ended.id).set({ has_lines: 0 });
        return Math.max(1, gone);
      });
    },
  };

  function linesBehind(id: string, after: number, limit: number) {
    return db
      .selectFrom('batch_lines')
      .where('batch_id', '=', id)
      .where('number', '>', after)
      .orderBy('number')
      .limit(limit);
  }
}

const NO_COUNTS = {
  succeeded: 0,
  failed: 0,
  expired: 0,
  cancelled: 0,
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  usd: 0,
  unpriced: 0,
};

const SPEND_COLUMNS = {
  inputTokens: 'input_tokens',
  cachedTokens: 'cached_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  usd: 'usd',
  unpriced: 'unpriced',
} as const satisfies Record<keyof LineSpend, string>;

/** New counts of a batch after more lines have ended. */
function grownBy(lines: readonly EndedLine[]) {
  const by: Record<string, number> = { ...NO_COUNTS };
  for (const { kind, spend } of lines) {
    by[kind] = (by[kind] ?? 0) + 1;
    for (const [name, column] of Object.entries(SPEND_COLUMNS))
      by[column] = (by[column] ?? 0) + (spend?.[name as keyof LineSpend] ?? 0);
  }
  return Object.fromEntries(
    Object.entries(by).map(([column, more]) => [column, sql<number>`${sql.ref(column)} + ${more}`]),
  );
}
