// The fence of jobs: what a runner writes counts only while it still holds the job. Knows nothing of what is written.
import { firstOf, type Queries, type StateDatabase } from './database.ts';
import { JOBS } from './job-tables.ts';

/** @returns a query that is true, and keeps the row from others until its transaction ends, while this fence holds the job */
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
