// Adds jobs to the queue, with their position in it and within the owner's quota.
import { sql } from 'kysely';
import { GatewayError } from '../../../canonical/index.ts';
import { type JobView, type NewJob, OPEN_STATES } from '../../../accounts/ports/index.ts';
import { firstOf, type Queries, type StateDatabase } from '../database.ts';
import { decodeView, OWN_PROCESS_MS, JOBS, newRow, VIEW_COLUMNS } from './job-tables.ts';

export function jobAdder({ on, clock }: Pick<StateDatabase, 'on' | 'clock'>) {
  const db = on(JOBS);
  const open = sql.join(OPEN_STATES);

  /** Virtual time of a new job: after all jobs of its project, and not before the head of the queue. */
  function* turnOf(projectId: string, priority: number, weight: number): Queries<number> {
    const places = yield* firstOf(
      sql<{ next: number | null; own: number | null }>`
        select
          (select turn from jobs where state = 'queued' and priority = ${priority} order by turn limit 1) as next,
          (select max(turn) from jobs
            where project_id = ${projectId} and state = 'queued' and priority = ${priority}) as own`,
    );
    return Math.max(places?.next ?? 0, (places?.own ?? 0) + 1 / weight);
  }

  function* openOf(projectId: string): Queries<number> {
    const held = yield* firstOf(
      sql<{ jobs: number }>`
        select count(*) as jobs from jobs where project_id = ${projectId} and state in (${open})`,
    );
    return held?.jobs ?? 0;
  }

  /** @throws GatewayError `rate_limited` if its project already has `maxOpen` open jobs */
  function* add(job: NewJob, maxOpen: number): Queries<JobView> {
    if ((yield* openOf(job.projectId)) >= maxOpen)
      throw new GatewayError(
        'rate_limited',
        `This project has ${maxOpen} unfinished jobs, the maximum of \`jobs.max_open\`. Wait until some have finished, or cancel them.`,
        { fault: 'client', code: 'too_many_jobs', retryAfterMs: 5_000 },
      );
    const values = yield* rowOf(job);
    const row = yield* firstOf(db.insertInto('jobs').values(values).returning(VIEW_COLUMNS));
    if (!row) throw new GatewayError('internal', 'The job could not be added.');
    return decodeView(row);
  }

  function* rowOf(job: NewJob) {
    const { projectId, priority, weight = 1 } = job;
    const turn = yield* turnOf(projectId, priority, weight);
    return {
      ...newRow(job),
      created_at: clock(),
      run_after: sql<number>`${clock()} + ${OWN_PROCESS_MS}`,
      turn,
    };
  }

  function* addAll(following: readonly NewJob[]): Queries<void> {
    for (const job of following)
      yield db
        .insertInto('jobs')
        .values(yield* rowOf(job))
        .onConflict((conflict) => conflict.column('id').doNothing());
  }

  return { openOf, add, addAll };
}
