// Validates limits and budgets that do not come from the configuration file.
import { invalidMember } from '../../canonical/index.ts';
import { MOST_LIMITS, rulesOf, type LimitEntry } from '../limits/index.ts';

export interface LimitsOf {
  readonly limits?: readonly LimitEntry[] | undefined;
  readonly budgets?: readonly LimitEntry[] | undefined;
}

/** @throws GatewayError `invalid_request`, naming the invalid member */
export function checkLimits({ limits = [], budgets = [] }: LimitsOf): void {
  check('limits', limits, (entry) => entry.usd === undefined, 'set amounts of `usd` in `budgets`');
  check('budgets', budgets, (entry) => entry.usd !== undefined, 'must be an amount of `usd`');
}

function check(
  param: string,
  entries: readonly LimitEntry[],
  belongs: (entry: LimitEntry) => boolean,
  otherwise: string,
): void {
  const refuse = (reason: string): never => {
    throw invalidMember(param, reason);
  };
  if (entries.length > MOST_LIMITS) refuse(`must not have more than ${MOST_LIMITS} entries`);
  if (!entries.every(belongs)) refuse(otherwise);
  try {
    rulesOf(entries);
  } catch (error) {
    if (error instanceof RangeError) refuse(error.message);
    throw error;
  }
}
