// How often the gateway refused or slowed somebody, since its start: one place to count, and one to read. Knows no format.

const NAMES = [
  'lag_stalls',
  'refused_for_lag',
  'refused_for_memory',
  'refused_for_ledger',
  'failed_authentications',
  'slowed_authentications',
  'slowed_refusals',
  'left_before_refusal',
] as const;
export type CounterName = (typeof NAMES)[number];

export class Counters {
  readonly #counts = new Map<CounterName, number>(NAMES.map((name) => [name, 0]));

  add(name: CounterName): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** All of them by name, also those that are zero. */
  read(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
