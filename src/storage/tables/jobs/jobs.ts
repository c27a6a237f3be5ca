// The job queue. Runners of several processes claim jobs concurrently: PostgreSQL skips rows that others have locked, and
// SQLite has one writer.
import { sql } from 'kysely';
import { type HeldJob, type JobStore, type NewJob, OPEN_STATES } from '../../../accounts/ports/index.ts';
import { jobAdder } from './add-jobs.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import {
  decodeHeld,
  decodeJob,
  decodeView,
  OWN_PROCESS_MS,
  JOB_COLUMNS,
  JOB_STEPS,
  JOB_STREAMS,
  type JobRow,
  JOBS,
  VIEW_COLUMNS,
} from './job-tables.ts';
import { ownJob } from './own-job.ts';
import { newestFirst } from '../pages.ts';
import { expirer } from '../purge.ts';
import type { RowIn } from '../table.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Maximum number of expired or due jobs that one call requeues. */
const MOST_DUE = 200;

export const jobs: Store<JobStore> = {
  tables: [JOBS, JOB_STEPS, JOB_STREAMS],
  open: openJobs,
};

function openJobs(database: StateDatabase): JobStore {
  const { on, dialect, transact, write, ask, read, readFirst, clock, turns } = database;
  const db = on(JOBS, JOB_STEPS, JOB_STREAMS);
  const isOwn = ownJob(database);
  const { openOf, add, addAll } = jobAdder(database);
  const open = sql.join(OPEN_STATES);

  /** Requeues jobs whose lease or wait has ended. An expired lease counts as a death of its holder. */
  function* wake({ owner, kinds, running, takesOver }: Parameters<JobStore['claim']>[0]): Queries<void> {
    const isOwnRun = sql`state = 'running' and lease_owner = ${owner} and ${dialect.among('id', running)}`;
    const states = takesOver ? sql`('running', 'waiting')` : sql`('waiting')`;
    const isDue = sql`state in ${states} and run_after <= ${clock()}
      and kind in (${sql.join(kinds)}) and not (${isOwnRun})`;
    const due = yield* firstOf(sql<{ row: number }>`select row from jobs where ${isDue} limit 1`);
    if (!due) return;
    yield sql`
      update jobs set state = 'queued', lease_owner = null,
        deaths = case when state = 'running' then coalesce(deaths, 0) + 1 else deaths end
      where row in (
        select row from jobs where ${isDue}
        order by run_after limit ${MOST_DUE} ${dialect.lockFree})`;
  }

  /** True if a job of a known kind is queued or due. */
  function* hasWork({ kinds, priority }: Parameters<JobStore['claim']>[0]): Queries<boolean> {
    const found = yield* firstOf(
      sql<{ work: number }>`
        select 1 as work where exists (
            select 1 from jobs where state = 'queued' and priority <= ${priority} and kind in (${sql.join(kinds)}))
          or exists (select 1 from jobs where state in ('running', 'waiting') and run_after <= ${clock()})`,
    );
    return found !== undefined;
  }

  function* next(options: Parameters<JobStore['claim']>[0]): Queries<HeldJob | null> {
    const { owner, leaseMs, perProject, priority, kinds } = options;
    const candidate = yield* firstOf(
      sql<{ row: number }>`
        select j.row from jobs as j
        where j.state = 'queued' and j.priority <= ${priority} and j.kind in (${sql.join(kinds)})
          and (j.home is null or j.home = ${owner} or j.run_after <= ${clock()})
          and (j.lane is null or not exists (
            select 1 from jobs as e where e.lane = j.lane and e.row < j.row and e.state in (${open})))
          and j.project_id not in (
            select project_id from jobs where state = 'running' group by project_id having count(*) >= ${perProject})
        order by j.priority, j.turn, j.row limit 1 ${dialect.lockFree}`,
    );
    if (!candidate) return null;
    const taken = yield* firstOf(
      db
        .updateTable('jobs')
        .set({
          state: 'running',
          lease_owner: owner,
          fence: sql`fence + 1`,
          attempt: sql`attempt + 1`,
          run_after: sql`${clock()} + ${leaseMs}`,
          started_at: sql`coalesce(started_at, ${clock()})`,
        })
        .where('row', '=', candidate.row)
        .returning(JOB_COLUMNS),
    );
    return taken ? decodeHeld(taken as JobRow) : null;
  }

  /** Time of the end, read once, so that the expiry is computed from the same value. */
  const moment = () => sql<{ readonly ms: number }>`(select ${clock()} as ms)`.as('moment');
  /** Changed columns of a job that ends then. */
  const ending = (keepMs: DurationMs | null | undefined) => ({
    ended_at: sql<number>`moment.ms`,
    ...(typeof keepMs === 'number' && {
      expires_at: sql<number>`case when expires_at > moment.ms + ${keepMs} then moment.ms + ${keepMs} else expires_at end`,
    }),
  });

  const byId = (id: string) => db.selectFrom('jobs').select(JOB_COLUMNS).where('id', '=', id);

  /** Changes a running job if the fence is current. */
  const underFence = (
    id: string,
    fence: number,
    set: Readonly<Record<string, unknown>>,
    following: readonly NewJob[] = [],
  ): Promise<boolean> =>
    transact(function* () {
      const changed = yield* firstOf(
        db
          .updateTable('jobs')
          .from(moment())
          .set(set)
          .where('id', '=', id)
          .where('fence', '=', fence)
          .where('state', '=', 'running')
          .returning('id'),
      );
      if (changed) yield* addAll(following);
      return changed !== undefined;
    });

  function* remove(rows: readonly Pick<RowIn<typeof JOBS>, 'row' | 'id'>[]): Queries<void> {
    for (const { row, id } of rows) {
      yield db.deleteFrom('job_steps').where('job_id', '=', id);
      yield db.deleteFrom('job_streams').where('job_id', '=', id);
      yield db.deleteFrom('jobs').where('row', '=', row);
    }
  }
  const removeExpired = expirer(database, JOBS, ['row', 'id'], remove);

  return {
    addAll: (added) => transact(() => addAll(added)),
    openOf: (projectId) => ask(() => openOf(projectId)),
    add: (job, maxOpen) => transact(() => add(job, maxOpen)),
    async claim(options) {
      // Checks with a query first: usually there is nothing to do, and a transaction would block others.
      if (!(await ask(() => hasWork(options)))) return [];
      return transact(function* () {
        yield* wake(options);
        const taken: HeldJob[] = [];
        while (taken.length < options.limit) {
          const job = yield* next(options);
          if (!job) break;
          taken.push(job);
        }
        return taken;
      });
    },
    async renew(owner, leaseMs, running) {
      const until = sql<number>`${clock()} + ${leaseMs}`;
      const rows = await transact(function* () {
        // Keeps jobs of this process's own clients from being claimed by others.
        yield db
          .updateTable('jobs')
          .set({ run_after: sql`${clock()} + ${OWN_PROCESS_MS}` })
          .where('home', '=', owner)
          .where('state', '=', 'queued');
        return yield* rowsOf(
          db
            .updateTable('jobs')
            .set({ run_after: until })
            .where('state', '=', 'running')
            .where('lease_owner', '=', owner)
            .where(dialect.among('id', running))
            .returning(['id', 'fence', 'cancel']),
        );
      });
      return rows.map(({ id, fence, cancel }) => ({ id, fence, isCancelRequested: cancel === 1 }));
    },
    step: (id, fence, { name, detail }) =>
      transact(function* () {
        if (!(yield* isOwn(id, fence))) return false;
        yield db
          .insertInto('job_steps')
          .values({ job_id: id, name, detail, at: clock() })
          .onConflict((conflict) => conflict.columns(['job_id', 'name']).doUpdateSet({ detail }));
        return true;
      }),
    async steps(id) {
      const found = db.selectFrom('job_steps').select(['name', 'detail', 'at']).where('job_id', '=', id);
      return read(found.orderBy('at').orderBy('name'));
    },
    wait: (id, fence, { reason, forMs, hasBegun, isNew = false }) =>
      underFence(id, fence, {
        state: 'waiting',
        lease_owner: null,
        attempt: hasBegun ? sql`attempt` : sql`attempt - 1`,
        waits_for: reason,
        waits_since: isNew ? clock() : sql`coalesce(waits_since, ${clock()})`,
        run_after: sql`${clock()} + ${forMs}`,
      }),
    async release(owner) {
      await write(
        db
          .updateTable('jobs')
          .set({ state: 'queued', lease_owner: null, home: null, run_after: 0 })
          .where('state', '=', 'running')
          .where('lease_owner', '=', owner),
      );
    },
    finish: (id, fence, end, { following, keepMs } = {}) =>
      underFence(
        id,
        fence,
        {
          state: end.state,
          lease_owner: null,
          ...ending(keepMs),
          waits_for: null,
          waits_since: null,
          ...(end.state === 'failed' ? { error_code: end.error.code, error_message: end.error.message } : {}),
        },
        following,
      ),
    cancel: (id, { following = [], keepMs } = {}) =>
      transact(function* () {
        const open = db.updateTable('jobs').where('id', '=', id);
        const ended = yield* firstOf(
          open
            .from(moment())
            .set({
              state: 'cancelled',
              cancel: 1,
              ...ending(keepMs),
              waits_for: null,
              waits_since: null,
            })
            .where('state', 'in', ['queued', 'waiting'])
            .returning('id'),
        );
        if (ended) yield* addAll(following);
        yield open.set({ cancel: 1 }).where('state', '=', 'running');
        const row = yield* firstOf(byId(id));
        return row ? decodeView(row) : null;
      }),
    async retry(id) {
      const [row] = await write(
        db
          .updateTable('jobs')
          .set({
            state: 'queued',
            cancel: 0,
            home: null,
            run_after: 0,
            ended_at: null,
            deaths: null,
            error_code: null,
            error_message: null,
          })
          .where('id', '=', id)
          .where('state', 'in', ['failed', 'cancelled'])
          .returning(VIEW_COLUMNS),
      );
      return row ? decodeView(row) : null;
    },
    async find(projectId, id) {
      const row = await readFirst(byId(id).where('project_id', '=', projectId));
      return row ? decodeJob(row) : null;
    },
    async get(id) {
      const row = await readFirst(byId(id));
      return row ? decodeView(row) : null;
    },
    async list({ limit, after, states, kind: kindOf, project }) {
      let query = db.selectFrom('jobs').select(VIEW_COLUMNS);
      if (states !== undefined) query = query.where('state', 'in', states);
      if (kindOf !== undefined) query = query.where('kind', '=', kindOf);
      if (project !== undefined) query = query.where('project_id', '=', project);
      const { rows, hasMore } = await newestFirst(database, ['jobs', 'job'], query, { limit, after });
      return { jobs: rows.map(decodeView), hasMore };
    },
    async counts() {
      const rows = await read(
        db
          .selectFrom('jobs')
          .select(['kind', 'state', sql<number>`count(*)`.as('jobs')])
          .select(sql<number>`min(created_at)`.as('oldest_at'))
          .groupBy(['kind', 'state'])
          .orderBy('kind')
          .orderBy('state'),
      );
      return rows.map(({ oldest_at: oldestAt, state, ...row }) => ({
        ...row,
        state: state as HeldJob['state'],
        oldestAt,
      }));
    },
    keepStream: (id, fence, bytes) =>
      transact(function* () {
        const own = yield* firstOf(
          dialect.held(db.selectFrom('jobs').select('row').where('id', '=', id).where('fence', '=', fence)),
        );
        if (!own) return false;
        yield db
          .insertInto('job_streams')
          .values({ job_id: id, bytes })
          .onConflict((conflict) => conflict.column('job_id').doUpdateSet({ bytes }));
        return true;
      }),
    async stream(projectId, id) {
      const row = await readFirst(
        db
          .selectFrom('job_streams as s')
          .innerJoin('jobs as j', 'j.id', 's.job_id')
          .select('s.bytes')
          .where('s.job_id', '=', id)
          .where('j.project_id', '=', projectId),
      );
      return row ? new Uint8Array(row.bytes) : null;
    },
    delete: (projectId, id) =>
      transact(function* () {
        const row = yield* firstOf(
          dialect.held(
            db
              .selectFrom('jobs')
              .select(['row', 'id'])
              .where('id', '=', id)
              .where('project_id', '=', projectId),
          ),
        );
        if (!row) return false;
        yield* remove([row]);
        // Its runner may be about to store the response.
        yield* turns.noteDeleted(projectId, id);
        return true;
      }),
    async purge(nowMs) {
      return (await removeExpired(nowMs)).length;
    },
  };
}
