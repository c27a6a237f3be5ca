// Counts what was replayed well, by recorder and protocol, and prints the table.

/** Counts checks, and keeps the reasons of those that failed. */
export class RateTable {
  readonly #title: string;
  readonly #rates = new Map<string, { passed: number; total: number }>();
  readonly failures: string[] = [];

  constructor(title: string) {
    this.#title = title;
  }

  /** @param reason undefined for a check that passed */
  add(row: string, name: string, reason: string | undefined): void {
    const rate = this.#rates.get(row) ?? { passed: 0, total: 0 };
    this.#rates.set(row, rate);
    rate.total++;
    if (reason === undefined) rate.passed++;
    else this.failures.push(`${name} (${row}): ${reason}`);
  }

  /** By row. */
  get rates(): ReadonlyMap<string, { readonly passed: number; readonly total: number }> {
    return this.#rates;
  }

  get total(): number {
    return this.#sum('total');
  }

  /** Share of the checks that passed, from 0 to 1. */
  get rate(): number {
    return this.total === 0 ? 0 : this.#sum('passed') / this.total;
  }

  print(): void {
    const rows = [...this.#rates].sort(([a], [b]) => (a < b ? -1 : 1));
    const width = Math.max(...rows.map(([row]) => row.length), 8);
    const line = (row: string, passed: number, total: number): string => {
      const share = `${((100 * passed) / total).toFixed(1)} %`;
      return `  ${row.padEnd(width)}  ${`${passed}/${total}`.padStart(9)}  ${share.padStart(7)}`;
    };
    console.log(this.#title);
    for (const [row, { passed, total }] of rows) console.log(line(row, passed, total));
    console.log(line('in all', this.#sum('passed'), this.total));
    for (const failure of this.failures) console.log(`  FAILED ${failure}`);
  }

  #sum(key: 'passed' | 'total'): number {
    let sum = 0;
    for (const rate of this.#rates.values()) sum += rate[key];
    return sum;
  }
}
