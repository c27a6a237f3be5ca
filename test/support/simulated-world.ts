// A world in one number: clocks, a network that loses, doubles, delays and cuts, and a server that may forget everything.
// Nothing in it waits for real time, and the same seed gives the same history.
import type { CounterStore } from '../../src/accounts/limits/index.ts';
import type { Clock } from '../../src/base/runtime/clock.ts';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.whole(0, values.length - 1)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  }
}

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | null;
}

/** Time, and what happens in it. */
export class Timeline {
  /** Milliseconds since it began. */
  now = 0;
  #order = 0;
  /** A binary heap by time. */
  readonly #heap: Event[] = [];

  /** @returns how to prevent it */
  after(ms: number, run: () => void): () => void {
    this.#order += 1;
    const event: Event = { at: this.now + Math.max(0, ms), order: this.#order, run };
    this.#push(event);
    return () => (event.run = null);
  }

  /** Lives through the next milliseconds, and through all that was promised in them. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (let event = this.#heap[0]; event && event.at <= end; event = this.#heap[0]) {
      this.#pop();
      if (!event.run) continue;
      this.now = event.at;
      event.run();
      await promised();
    }
    this.now = end;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (!parent || isBefore(parent, event)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (!left) break;
      if (right && isBefore(right, left)) below += 1;
      const least = heap[below];
      if (!least || isBefore(last, least)) break;
      heap[at] = least;
      at = below;
    }
    heap[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** As deep as promises hang on each other here, and deeper. */
async function promised(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
}

/** The clock of one machine. */
export class MachineClock implements Clock {
  readonly #time: Timeline;
  readonly #startMs: number;
  readonly #skewMs: number;
  #isStopped = false;

  /** @param startMs Unix milliseconds at which the world began @param skewMs by which it is wrong */
  constructor(time: Timeline, startMs: number, skewMs: number) {
    this.#time = time;
    this.#startMs = startMs;
    this.#skewMs = skewMs;
  }

  readonly now = (): number => this.#startMs + this.#skewMs + this.#time.now;
  readonly wall = (): number => this.now();
  readonly elapsed = (): number => this.#time.now;

  /** The machine is gone: nothing that it had in mind happens. */
  stop(): void {
    this.#isStopped = true;
  }

  after(ms: number, run: () => void): () => void {
    return this.#time.after(ms, () => {
      if (!this.#isStopped) run();
    });
  }

  every(ms: number, run: () => void): () => void {
    let isOver = false;
    const again = (): void => {
      this.after(ms, () => {
        if (isOver) return;
        run();
        again();
      });
    };
    again();
    return () => (isOver = true);
  }
}

/** How bad a network is. */
export interface NetworkFaults {
  /** Probability that a message is lost, comes twice, or comes late; and how late at most, in milliseconds. */
  readonly lost: number;
  readonly doubled: number;
  readonly late: number;
  readonly latestMs: number;
}

/** Messages between machines and the server. */
export class Network {
  faults: NetworkFaults;
  /** Until when no message comes through, to or from anybody, or one machine. */
  readonly #cutUntil = new Map<string, number>();
  readonly #time: Timeline;
  readonly #chance: Chance;

  constructor(time: Timeline, chance: Chance, faults: NetworkFaults) {
    this.#time = time;
    this.#chance = chance;
    this.faults = faults;
  }

  cut(machine: string, forMs: number): void {
    this.#cutUntil.set(machine, this.#time.now + forMs);
  }

  mend(): void {
    this.#cutUntil.clear();
  }

  /** True when messages of a machine arrive. */
  reaches(machine: string): boolean {
    return [machine, '*'].every((name) => (this.#cutUntil.get(name) ?? 0) <= this.#time.now);
  }

  send(machine: string, arrive: () => void): void {
    const { lost, doubled, late, latestMs } = this.faults;
    const copies = this.#chance.happens(doubled) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (this.#chance.happens(lost)) continue;
      const ms = this.#chance.happens(late) ? this.#chance.whole(5, latestMs) : this.#chance.whole(0, 3);
      this.#time.after(ms, () => {
        if (this.reaches(machine)) arrive();
      });
    }
  }
}

/** A store of counters as one machine sees it through the network. */
export function remoteStore(
  machine: string,
  network: Network,
  server: { readonly store: CounterStore; readonly now: () => number },
): CounterStore {
  // The server goes by its own clock.
  const ask = <T>(run: (store: CounterStore, nowMs: number) => Promise<T>): Promise<T> =>
    new Promise((resolve) => {
      network.send(machine, () => {
        void run(server.store, server.now()).then((answer) => network.send(machine, () => resolve(answer)));
      });
    });
  return {
    take: (caller, ...said) => ask((store, nowMs) => store.take({ ...caller, nowMs }, ...said)),
    restoring: (caller, counters) => ask((store, nowMs) => store.restoring({ ...caller, nowMs }, counters)),
    restored: (caller, words) => ask((store, nowMs) => store.restored({ ...caller, nowMs }, words)),
  };
}
