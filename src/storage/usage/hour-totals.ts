// Totals of hours that are over, so that a report by the hour reads a few rows of each instead of one for each thing that its
// requests were of: all of the hour, and what each project, each key, each model and so on came to. They follow from the rows of
// hours. Whatever changes one of those takes away the mark that the totals of its hour are there: triggers do that, so older
// programs that write beside this one do it as well. Hours without the mark are read from their rows, and totalled later.
import { addUsageSums, noUsageSums, type UsageSums } from '../../usage/index.ts';
import { USAGE_DIMENSIONS, type UsageDimension, type UsageQuery } from '../usage-ports.ts';
import { HOUR_MS } from './hours.ts';

/** The dimension of what an hour came to all together; its row is the mark. */
export const OF_ALL = 0;

/** The dimension of rows that say who adds up an hour just now: one that is gone when it ends has to be begun again. */
export const DRAFT = -1;

/** An hour is left alone for so long after its end: requests that came in it are still being answered. */
const SETTLED_MS = HOUR_MS;

/** The first hour that is not totalled yet. */
export function totalledBefore(nowMs: number): number {
  return Math.floor((nowMs - SETTLED_MS) / HOUR_MS);
}

/** Some of the totals. */
export interface TotalsBy {
  readonly dimension: number;
  /** What they are by; null: of all. */
  readonly by: UsageDimension | null;
}

/** Which totals answer a question by the hour; null where it concerns several things that sums are kept by. */
export function totalsFor({ groupBy, filters }: Pick<UsageQuery, 'groupBy' | 'filters'>): TotalsBy | null {
  const asked = USAGE_DIMENSIONS.filter((name) => groupBy.includes(name) || filters[name] !== undefined);
  const [by] = asked;
  if (asked.length > 1) return null;
  return by === undefined ? { dimension: OF_ALL, by: null } : { dimension: numberOf(by), by };
}

/** How rows name what they are by. Stored: the order of the dimensions stays. */
function numberOf(name: UsageDimension): number {
  return OF_ALL + 1 + USAGE_DIMENSIONS.indexOf(name);
}

export interface TotalsRow<Name> {
  readonly dimension: number;
  readonly name: Name;
  readonly sums: UsageSums;
}

/** The totals of one hour while its rows are added up. */
export class HourTotals<Name> {
  readonly #all: TotalsRow<Name>;
  readonly #named = new Map<UsageDimension, Map<Name, UsageSums>>();

  /** @param none the name of what has none */
  constructor(none: Name) {
    this.#all = { dimension: OF_ALL, name: none, sums: noUsageSums() };
    for (const dimension of USAGE_DIMENSIONS) this.#named.set(dimension, new Map());
  }

  /** @param nameOf what a row of the hour is of */
  add(sums: UsageSums, nameOf: (dimension: UsageDimension) => Name): void {
    addUsageSums(this.#all.sums, sums);
    for (const [dimension, named] of this.#named) {
      const name = nameOf(dimension);
      let sum = named.get(name);
      if (!sum) named.set(name, (sum = noUsageSums()));
      addUsageSums(sum, sums);
    }
  }

  rows(): readonly TotalsRow<Name>[] {
    const named = [...this.#named].flatMap(([dimension, sums]) =>
      Array.from(sums, ([name, sum]) => ({ dimension: numberOf(dimension), name, sums: sum })),
    );
    return [this.#all, ...named];
  }
}
