// Options `--limit`, `--budget` and `--unpriced` of keys and projects, and limits as text for tables.
import { GatewayError } from '../../../canonical/index.ts';
import { limitWords, parseLimit, type LimitEntry } from '../../../accounts/limits/index.ts';
import type { Arguments } from '../command.ts';

/** Removes all limits, or all budgets. */
const NONE = 'none';

interface Limits {
  readonly limits?: readonly LimitEntry[];
  readonly budgets?: readonly LimitEntry[];
}

/** Limits given by options; others are absent. @throws GatewayError `invalid_request` */
export function readLimits(args: Arguments): Limits {
  const limits = entriesOf(args, 'limit');
  const budgets = withUnpriced(entriesOf(args, 'budget'), args.option('unpriced'));
  return { ...(limits && { limits }), ...(budgets && { budgets }) };
}

/** Budgets with `--unpriced` applied. @param word `refuse` or `allow`; undefined: each budget keeps its own setting */
function withUnpriced(
  budgets: readonly LimitEntry[] | undefined,
  word: string | undefined,
): readonly LimitEntry[] | undefined {
  if (word === undefined) return budgets;
  if (word !== 'refuse' && word !== 'allow')
    throw new GatewayError('invalid_request', `--unpriced: must be refuse or allow (got "${word}")`);
  if (!budgets?.length)
    throw new GatewayError('invalid_request', '--unpriced: applies to budgets; set --budget, too');
  return budgets.map((budget) => ({ ...budget, unpriced: word }));
}

function entriesOf(args: Arguments, option: string): readonly LimitEntry[] | undefined {
  const given = args.options(option);
  if (given.length === 0) return undefined;
  if (given.length === 1 && given[0] === NONE) return [];
  return given.map((text) => {
    try {
      return parseLimit(text);
    } catch (error) {
      if (error instanceof RangeError)
        throw new GatewayError('invalid_request', `--${option}: ${error.message}`);
      throw error;
    }
  });
}

/** Limits and budgets as one cell. */
export function limitsText({ limits, budgets }: Required<Limits>): string {
  return [...limits, ...budgets].map(limitWords).join('; ');
}
