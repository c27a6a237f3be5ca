// Actions of the engine's failure table, in words; for every page that shows them.
import type { FailureAction } from '../../src/engine/failure-table.ts';

export const AFTER: Readonly<Record<FailureAction, string>> = {
  retry: 'retry, then the next endpoint',
  next: 'the next endpoint',
  'larger-context': 'the next endpoint with a larger context',
  'other-model': 'the next endpoint of another model',
  return: 'return the error',
};
