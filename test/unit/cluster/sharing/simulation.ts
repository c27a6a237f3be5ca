// Histories of processes that share a limit: the real limiter and store, in a world where everything goes wrong.
import { SharedLimits } from '../../../../src/cluster/counters/index.ts';
import {
  type CounterStore,
  type LedgerSum,
  type LedgerSums,
  Limiter,
  MemoryCounterStore,
  Reservation,
  type Scope,
} from '../../../../src/accounts/limits/index.ts';
import { type Case, CASES, END_USER, isRollingMoney, MONEY, RATES, ROLLING_MONEY } from './cases.ts';
import { Forgotten, noting } from './forgotten.ts';
import { Chance, MachineClock, Network, remoteStore, Timeline } from '../../../support/simulated-world.ts';

const LEASE_MS = 1000;
/** Time after which the ledger is read again where something was settled while it was read. */
const REVIEW_MS = 10 * LEASE_MS;
const MODEL = 'sim/chat';
const DAY = 86_400_000;
/** Two clocks differ by twice as much. */
const SKEW_MS = 5000;
const ROLLING_MONEY_SKEW_MS = 2500;
/** For how long the ledger's word of a window that rolls goes back further than the window. */
const LEDGER_MARGIN_MS = 2 * LEASE_MS + 2 * ROLLING_MONEY_SKEW_MS;
/** A while before midnight, so that days change in many histories. */
const BEFORE_MS = 1000;
const START = Date.UTC(2026, 10, 22) - BEFORE_MS;
const OWNER = { kind: 'key', id: 'ci', name: 'ci' } as const;

export interface Conditions {
  readonly seed: number;
  readonly nodes: number;
  /** Milliseconds in which there is traffic. */
  readonly forMs: number;
  /** True when faults occur. */
  readonly faults: boolean;
  /** Limits in windows that roll alone, instead of any by chance. They have traffic for longer. */
  readonly rolling?: 'money' | 'rates';
  /** While the store is out of reach: `local` only with stores that lose everything and answer, since it spends what nobody knows. */
  readonly whenUnreachable?: 'local' | 'refuse';
  /** Stands between the network and the store, as it is in a history that must fail. */
  readonly guard?: (store: CounterStore) => CounterStore;
}

/** Something that must never happen. */
export class Violation extends Error {}

interface Entry {
  readonly atMs: number;
  readonly period: number;
  amount: number;
  /** Unix milliseconds of the true time. */
  readonly trueMs: number;
  isRunning: boolean;
  isInLedger: boolean;
  readonly node: Node;
}

/** The truth, and the ledger's knowledge of it. */
class SimulatedLedger implements LedgerSums {
  readonly entries: Entry[] = [];
  readonly #time: Timeline;
  readonly #chance: Chance;
  readonly #kind: 'requests' | 'tokens' | 'nanoUsd';
  readonly #endUser: string | null;
  readonly #isRead: (entries: readonly Entry[]) => void;

  /** @param isRead told when somebody reads it */
  constructor(time: Timeline, chance: Chance, { entry }: Case, isRead: (entries: readonly Entry[]) => void) {
    this.#isRead = isRead;
    this.#endUser = entry.each === undefined ? null : END_USER;
    this.#time = time;
    this.#chance = chance;
    this.#kind = entry.usd === undefined ? (entry.tokens === undefined ? 'requests' : 'tokens') : 'nanoUsd';
  }

  async *read({ fromMs }: { readonly fromMs: number }): AsyncIterable<readonly LedgerSum[]> {
    await new Promise<void>((resolve) => this.#time.after(this.#chance.whole(1, 20), resolve));
    this.#isRead(this.entries);
    const none = { ownerId: OWNER.id, model: MODEL, endpoint: '', requests: 0, tokens: 0, nanoUsd: 0 };
    const reported = this.entries.filter((one) => one.isInLedger && one.atMs >= fromMs);
    yield reported.map(({ atMs, amount }) => ({
      ...none,
      endUser: this.#endUser,
      atMs,
      [this.#kind]: amount,
    }));
  }
}

class Node {
  readonly clock: MachineClock;
  readonly limits: SharedLimits;
  readonly scope: Scope;
  isAlive = true;
  /** True once it knows what others have: a gateway admits nobody before. */
  isOpen = false;
  /** Turn of its latest call. */
  turn = 0;
  readonly name: string;
  readonly #limiter: Limiter;
  readonly #world: World;

  constructor(world: World, name: string, skewMs: number) {
    this.#world = world;
    this.name = name;
    this.clock = new MachineClock(world.time, START, skewMs);
    const remote = remoteStore(name, world.network, world.server);
    this.limits = new SharedLimits({
      store: noting(remote, ({ turn }) => (this.turn = turn)),
      holder: name,
      leaseMs: LEASE_MS,
      ledger: world.ledger,
      periodStart: (rule, nowMs) => this.#limiter.periodStart(rule.window, nowMs),
      clock: this.clock,
      elapsed: this.clock.elapsed,
      whenUnreachable: world.whenUnreachable,
      processes: 1,
      log: { info: () => {}, warn: () => {} },
    });
    this.#limiter = new Limiter({ now: this.clock.now, sharing: this.limits });
    this.scope = this.#limiter.scope(OWNER, [world.of.entry]);
  }

  crash(): void {
    this.isAlive = false;
    this.clock.stop();
  }

  /** One request from its admission to its end. @returns whether it was admitted */
  async request(amount: number, runsMs: number): Promise<boolean> {
    if (!this.isOpen) return false;
    const { entry } = this.#world.of;
    const estimate = {
      model: MODEL,
      endUser: entry.each === undefined ? null : END_USER,
      tokens: entry.tokens === undefined ? 0 : amount,
      nanoUsd: entry.usd === undefined ? 0 : amount,
    };
    const askedMs = this.#world.time.now;
    const outcome = await this.#limiter.take([this.scope], estimate, this.clock.now() + DAY);
    if (!this.isAlive || !(outcome instanceof Reservation)) return false;
    const reservation = outcome;
    const booked = this.#world.book(this, amount, askedMs);
    this.clock.after(runsMs, () => {
      booked.isRunning = false;
      booked.isInLedger = true;
      // It came to less than was expected.
      const actual = entry.concurrent === undefined ? Math.ceil(amount / 2) : amount;
      if (amount > 1) booked.amount = actual;
      const spent = amount > 1 ? actual : amount;
      this.#limiter.settle(reservation, { requests: 1, tokens: spent, nanoUsd: spent });
    });
    return true;
  }
}

class World {
  readonly time = new Timeline();
  readonly chance: Chance;
  readonly of: Case;
  readonly whenUnreachable: 'local' | 'refuse';
  readonly ledger: SimulatedLedger;
  readonly #forgotten = new Forgotten();
  readonly network: Network;
  readonly nodes: Node[] = [];
  violation: Violation | undefined;
  readonly server: { store: CounterStore; readonly now: () => number };
  readonly #conditions: Conditions;
  readonly #skewMs: number;
  #named = 0;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
    this.chance = new Chance(conditions.seed);
    this.whenUnreachable = conditions.whenUnreachable ?? 'refuse';
    const { rolling } = conditions;
    const cases = this.whenUnreachable === 'local' ? MONEY : CASES;
    this.of = rolling === 'money' ? ROLLING_MONEY : this.chance.of(rolling === 'rates' ? RATES : cases);
    this.ledger = new SimulatedLedger(this.time, this.chance, this.of, (entries) =>
      this.#forgotten.read(entries),
    );
    const { faults } = conditions;
    const isBad = faults && this.whenUnreachable === 'refuse';
    this.network = new Network(this.time, this.chance, {
      lost: isBad ? this.chance.next() * 0.2 : 0,
      doubled: isBad ? this.chance.next() * 0.2 : 0,
      late: isBad ? this.chance.next() * 0.3 : 0,
      latestMs: 3 * LEASE_MS,
    });
    this.#skewMs = faults ? (isRollingMoney(this.of) ? ROLLING_MONEY_SKEW_MS : SKEW_MS) : 0;
    const skew = this.chance.whole(-this.#skewMs, this.#skewMs);
    const now = (): number => START + skew + this.time.now;
    this.server = { store: this.#makeStore(undefined), now };
  }

  #makeStore(emptySinceMs: number | undefined): CounterStore {
    const store = new MemoryCounterStore({ leaseMs: LEASE_MS, emptySinceMs });
    const received = noting(
      store,
      ({ holder, turn }) => {
        const node = this.nodes.find(({ name }) => name === holder);
        if (node) this.#forgotten.receive(node, turn, this.time.now);
      },
      () => this.#forgotten.restored(this.time.now, LEASE_MS),
    );
    return this.#conditions.guard?.(received) ?? received;
  }

  loseData(): void {
    this.#forgotten.lose(this.nodes, this.ledger.entries, this.time.now, this.time.now + LEASE_MS);
    this.server.store = this.#makeStore(this.server.now());
  }

  async start(): Promise<Node> {
    this.#named += 1;
    const node = new Node(this, `node ${this.#named}`, this.chance.whole(-this.#skewMs, this.#skewMs));
    this.nodes.push(node);
    await Promise.resolve();
    void node.limits.open().then(() => (node.isOpen = true));
    return node;
  }

  /** How long after its end the last of a window is known to be free, in milliseconds; 0 for periods. */
  get clearsWithinMs(): number {
    const { windowMs } = this.of;
    if (windowMs === Infinity) return 0;
    return isRollingMoney(this.of) ? windowMs + LEDGER_MARGIN_MS + 2 * this.#skewMs : windowMs;
  }

  get living(): readonly Node[] {
    return this.nodes.filter(({ isAlive }) => isAlive);
  }

  /** @param askedMs when it asked, by the true time: from then on it counts */
  book(node: Node, amount: number, askedMs: number): Entry {
    const atMs = node.clock.now() - (this.time.now - askedMs);
    const period = this.of.entry.per === 'day' ? Math.floor(atMs / DAY) : 0;
    const entry = {
      atMs,
      period,
      amount: this.of.most === 1 ? 1 : amount,
      trueMs: askedMs,
      isRunning: true,
      isInLedger: false,
      node,
    };
    this.ledger.entries.push(entry);
    this.#forgotten.used(entry);
    this.check(period);
    return entry;
  }

  /** Amount that really counts now. @param lost whether with what those had begun who died: no ledger knows of that */
  spent(period: number, lost: boolean, comesOnTop: (one: Entry) => boolean = () => false): number {
    const { windowMs } = this.of;
    let sum = 0;
    for (const one of this.ledger.entries) {
      if (one.period !== period || comesOnTop(one)) continue;
      const isFromLedger = windowMs === Infinity || isRollingMoney(this.of);
      if (!lost && one.isRunning && !one.node.isAlive && isFromLedger) continue;
      const counts =
        windowMs === 0
          ? one.isRunning && one.node.isAlive
          : windowMs === Infinity || one.trueMs + windowMs > this.time.now;
      if (counts) sum += one.amount;
    }
    return sum;
  }

  /** True for use beyond a limit that the documentation allows: no lessee can know of it. */
  #comesOnTop(one: Entry): boolean {
    const { windowMs } = this.of;
    if (windowMs === 0) return this.#forgotten.isAstray(one, this.time.now, LEASE_MS);
    return RATES.includes(this.of) ? this.#forgotten.has(one) : this.#forgotten.isOnTop(one);
  }

  check(period: number): void {
    const spent = this.spent(period, false, (one) => this.#comesOnTop(one));
    if (spent > this.of.amount) this.fail(`${spent} spent of ${this.of.amount}`);
  }

  /** Notes the first thing that went wrong. */
  fail(what: string): void {
    const { seed, nodes, faults } = this.#conditions;
    this.violation ??= new Violation(
      `${what} (seed ${seed}, ${nodes} nodes, ${faults ? 'faults' : 'no faults'}, ${JSON.stringify(this.of.entry)}, at ${this.time.now} ms)`,
    );
  }
}

/** Lives through one history. Throws Violation where something happens that must not. */
export async function live(conditions: Conditions): Promise<void> {
  const world = new World(conditions);
  const { chance, time, network } = world;
  for (let at = 0; at < conditions.nodes; at += 1) await world.start();
  await time.pass(50);
  // Long enough for what was used to come free again while others still use it.
  const forMs = conditions.rolling ? 4 * conditions.forMs : conditions.forMs;
  while (time.now < forMs) {
    await step(world, conditions);
    await time.pass(chance.whole(1, 120));
    if (world.violation) throw world.violation;
  }
  network.mend();
  network.faults = { lost: 0, doubled: 0, late: 0, latestMs: 0 };
  await time.pass(3 * LEASE_MS + world.clearsWithinMs);
  // From here on everybody has the same day.
  await time.pass(Math.max(0, BEFORE_MS + SKEW_MS - time.now));
  await servesAll(world);
  await returnsAll(world);
  if (world.violation) throw world.violation;
}

async function step(world: World, { faults, nodes }: Conditions): Promise<void> {
  const { chance, network } = world;
  if (faults && chance.happens(0.06)) {
    const harm = world.whenUnreachable === 'local' ? chance.of([0, 3, 3]) : chance.whole(0, 4);
    const node = chance.of(world.nodes);
    const name = `node ${world.nodes.indexOf(node) + 1}`;
    if (harm === 0) node.crash();
    else if (harm === 1) network.cut(name, chance.whole(100, 3000));
    else if (harm === 2) network.cut('*', chance.whole(50, 1500));
    else if (harm === 3) world.loseData();
    if (world.living.length < nodes) await world.start();
  }
  const burst = chance.whole(1, 4);
  for (let at = 0; at < burst; at += 1) {
    const node = chance.of(world.living);
    void node.request(chance.whole(1, world.of.most), chance.whole(5, 400));
  }
}

/** Nobody starves while half of the limit is free: whoever is alive gets something of it now. */
async function servesAll(world: World): Promise<void> {
  for (const node of world.living.slice(0, 5)) {
    const period = world.of.entry.per === 'day' ? Math.floor(node.clock.now() / DAY) : 0;
    if (world.spent(period, true) * 2 > world.of.amount) return;
    let isServed = false;
    for (let tries = 0; tries < 3 && !isServed; tries += 1) {
      void node.request(1, 5).then((admitted) => (isServed ||= admitted));
      await world.time.pass(600);
    }
    if (!isServed) return world.fail('a node starves');
  }
}

/** Everybody dies, and one who comes later gets all that is left. */
async function returnsAll(world: World): Promise<void> {
  const { of, time } = world;
  for (const node of world.living) node.crash();
  // Amounts that may have been counted twice while the ledger was read are looked at again.
  await time.pass(REVIEW_MS + world.clearsWithinMs);
  const late = await world.start();
  await time.pass(LEASE_MS + 100);
  const period = of.entry.per === 'day' ? Math.floor(late.clock.now() / DAY) : 0;
  const left = of.amount - world.spent(period, false);
  const step = of.most === 1 ? 1 : Math.max(1, left);
  for (let gone = 0; gone < left; gone += step) {
    let isServed = false;
    for (let tries = 0; tries < 3 && !isServed; tries += 1) {
      void late.request(step, 60_000).then((admitted) => (isServed ||= admitted));
      await time.pass(600);
    }
    if (!isServed) return world.fail(`${left - gone} of ${of.amount} never come back`);
  }
}
