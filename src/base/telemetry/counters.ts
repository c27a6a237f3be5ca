// Counters of refused and delayed requests since the start of the process.

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

  /** All counters by name, zeros included. */
  read(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
