// Fencing of jobs: writes of a runner take effect only while it holds the job.
import { firstOf, type Queries, type StateDatabase } from '../database.ts';
import { JOBS } from './job-tables.ts';

/** @returns a query that is true if the fence holds the job, and locks the job until the transaction ends */
export function ownJob({ on, dialect }: StateDatabase): (id: string, fence: number) => Queries<boolean> {
  const db = on(JOBS);
  return function* (id, fence) {
    const own = yield* firstOf(
      dialect.held(
        db
          .selectFrom('jobs')
          .select('row')
          .where('id', '=', id)
          .where('fence', '=', fence)
          .where('state', '=', 'running'),
      ),
    );
    return own !== undefined;
  };
}
