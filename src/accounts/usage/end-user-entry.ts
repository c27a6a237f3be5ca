// Usage of an end user in reports, with the same names in JSON, CSV and tables.
import { knownUsd } from './usage-entry.ts';

interface EndUserSums {
  readonly project: string;
  readonly endUser: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly nanoUsd: number;
  readonly unpriced: number;
}

/** Columns of a table of end users. */
export const END_USER_COLUMNS = [
  'project',
  'end_user',
  'requests',
  'errors',
  'input',
  'output',
  'nano_usd',
  'usd',
  'unpriced_requests',
] as const;

/** One row. `end_user` is null for users beyond the hourly maximum. */
export function endUserEntry({ project, endUser, inputTokens, outputTokens, nanoUsd, ...sums }: EndUserSums) {
  return {
    project,
    end_user: endUser,
    requests: sums.requests,
    errors: sums.errors,
    input: inputTokens,
    output: outputTokens,
    nano_usd: nanoUsd,
    usd: knownUsd({ nano_usd: nanoUsd, unpriced: sums.unpriced }),
    unpriced_requests: sums.unpriced,
  } satisfies Record<(typeof END_USER_COLUMNS)[number], unknown>;
}
