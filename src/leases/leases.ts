// The leases of one process: renewed in the background, all in one call a few times a second, and at once where a request
// lacks something. While nobody can be asked, each goes on with its share, or stops.
import {
  type Caller,
  type Ceilings,
  type Claim,
  type Counter,
  type CounterStore,
  type LedgerSums,
  type Limit,
  limitId,
  type LimitRule,
  spentOf,
} from '../limits/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../telemetry/log.ts';
import { HeldLease } from './held-lease.ts';
import { inTime, Reach } from './reach.ts';
import { Resting } from './resting.ts';

/** How often leases are looked at, in milliseconds. */
const LOOK_MS = 250;
/** How long a request waits for what it lacks, in milliseconds. */
const PATIENCE_MS = 600;
/** The same, while the ledger is read. */
const LEDGER_PATIENCE_MS = 2000;
/** When it is looked again whether another process has read the ledger, in milliseconds. */
const AGAIN_MS = 50;
/** Counters of one call: the store serves others as well. */
const MOST_CLAIMS = 500;
/** Part of the time of a lease for which it is used: clocks do not run equally fast. */
const SAFE_PART = 0.95;
/** By how much later a store that has lost its data may seem to be settled, from one answer to the next, in milliseconds. */
const JITTER_MS = 100;
/** By how much clocks of processes may differ, in milliseconds. */
const CLOCKS_DIFFER_MS = 5000;

export interface LeasesOptions {
  readonly store: CounterStore;
  /** Names this process, unlike all others and those before. */
  readonly holder: string;
  /** That of the store, in milliseconds. */
  readonly leaseMs: number;
  readonly ledger: LedgerSums;
  /** Unix milliseconds at which the calendar period of a time began; 0 where a rule has none. */
  readonly periodStart: (rule: LimitRule, nowMs: number) => number;
  readonly clock: Clock;
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  /** What holds while the store is out of reach: this process's share of each limit, or nothing. */
  readonly whenUnreachable: 'share' | 'refuse';
  /** Processes to expect as long as nobody has counted them. */
  readonly processes: number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** For operators: what goes on between this process and the store. */
export interface LeaseTraffic {
  calls: number;
  failures: number;
  claims: number;
  /** Requests that waited for an answer. */
  waits: number;
  /** Counters set from the ledger. */
  restored: number;
}

export class Leases implements Ceilings {
  readonly traffic: LeaseTraffic = { calls: 0, failures: 0, claims: 0, waits: 0, restored: 0 };
  readonly #options: LeasesOptions;
  readonly #reach: Reach;
  readonly #byCounter = new WeakMap<Counter, HeldLease>();
  /** Those that are looked at. */
  readonly #active = new Map<string, HeldLease>();
  /** Farewells that the store was not told yet. */
  #farewells: Claim[] = [];
  readonly #resting = new Resting();
  #waiting: (() => void)[] = [];
  #turn = 0;
  #calling: Promise<void> | null = null;
  #isWoken = false;
  #isRestoring = false;
  /** True while the ledger is asked for something that requests may wait for. */
  #awaitsLedger = false;
  #readAgainAt = -Infinity;
  #calledAt = -Infinity;
  #processes: number;
  #settledAt = 0;
  #isStopped = false;
  readonly #stopLooking: () => void;
  readonly #terms = {
    elapsed: (): number => this.#options.elapsed(),
    isAlone: (): boolean => !this.isReachable,
    isUnsettled: (): boolean => this.#isUnsettled,
    sharers: (): number => (this.#options.whenUnreachable === 'share' ? this.#processes : 0),
    keep: (lease: HeldLease): void => {
      // The store hears nothing more of one that was dropped: another may have its name.
      if (this.#byCounter.get(lease.counter) !== lease) return;
      this.#active.set(lease.name, lease);
      this.#resting.remove(lease);
    },
    wake: (): void => this.#wake(),
  };

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#processes = options.processes;
    this.#reach = new Reach({
      ...options,
      gone: 'the store of counters does not answer: limits hold for this process alone',
      back: 'the store of counters answers again: limits are shared as before',
    });
    this.#stopLooking = options.clock.every(LOOK_MS, () => this.#look());
  }

  /** False while the store does not answer. */
  get isReachable(): boolean {
    return this.#reach.isOpen;
  }

  /** What is less than it should be, a sentence each. */
  get degraded(): readonly string[] {
    if (this.isReachable) return [];
    const { whenUnreachable } = this.#options;
    const holds = whenUnreachable === 'share' ? `one of ${this.#processes} shares` : 'what was leased';
    return [`the server of counters does not answer: each limit is ${holds} here`];
  }

  /** Counters that are held just now. */
  get held(): number {
    return this.#active.size;
  }

  /** How many processes share, as last known. */
  get processes(): number {
    return this.#processes;
  }

  /** Resolves when the store has answered and everything it may have forgotten is over, or when it does not answer. */
  async open(): Promise<void> {
    await this.#round();
    const { clock, leaseMs } = this.#options;
    if (this.isReachable && this.#isUnsettled)
      await new Promise<void>((resolve) => clock.after(Math.min(leaseMs, this.#settlesInMs), resolve));
  }

  /** Gives everything back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopLooking();
    await this.#calling;
    for (const lease of this.#active.values())
      this.#farewells.push(lease.farewell(this.#options.clock.now()).claim);
    while (this.isReachable && this.#farewells.length > 0) await this.#leave();
  }

  of(limit: Limit, counter: Counter, endUser: string | null): HeldLease {
    let lease = this.#byCounter.get(counter);
    if (lease) {
      lease.limit = limit;
      return lease;
    }
    const user = limit.rule.eachEndUser ? (endUser ?? '') : null;
    const name = user === null ? limitId(limit) : `${limitId(limit)} ${user}`;
    // The same counts in another counter: that of a limit which was taken away and given again.
    const before = this.#active.get(name) ?? this.#resting.find(name);
    if (before) this.drop(before.counter);
    const { periodStart } = this.#options;
    const { rule } = limit;
    const periodOf = (nowMs: number): number => periodStart(rule, nowMs);
    lease = new HeldLease({ name, limit, counter, endUser: user }, periodOf, this.#terms);
    this.#byCounter.set(counter, lease);
    this.#active.set(name, lease);
    return lease;
  }

  known(counter: Counter): HeldLease | null {
    return this.#byCounter.get(counter) ?? null;
  }

  drop(counter: Counter): void {
    const lease = this.#byCounter.get(counter);
    if (!lease) return;
    this.#byCounter.delete(counter);
    this.#resting.remove(lease);
    if (this.#active.get(lease.name) === lease) this.#active.delete(lease.name);
    this.#farewells.push(lease.farewell(this.#options.clock.now()).claim);
  }

  async answered(): Promise<void> {
    this.traffic.waits += 1;
    const { clock, elapsed } = this.#options;
    const from = elapsed();
    for (let leftMs = PATIENCE_MS; leftMs > 0;) {
      await new Promise<void>((resolve) => {
        const late = clock.after(leftMs, resolve);
        this.#waiting.push(() => {
          late();
          resolve();
        });
      });
      if (!this.#awaitsLedger && !this.#isMoneyAwaited) return;
      leftMs = Math.max(0, this.#settlesInMs) + LEDGER_PATIENCE_MS - (elapsed() - from);
    }
  }

  /** True where requests wait until it is known what others have of a budget. */
  get #isMoneyAwaited(): boolean {
    return this.isReachable && this.#isUnsettled && [...this.#active.values()].some((one) => one.isAwaited);
  }

  get #isUnsettled(): boolean {
    return this.#settlesInMs > 0;
  }

  get #settlesInMs(): number {
    return this.#settledAt - this.#options.elapsed();
  }

  #wake(): void {
    if (this.#isWoken || this.#isStopped) return;
    this.#isWoken = true;
    // Requests that come together ask together.
    void Promise.resolve().then(() => this.#calling ?? this.#round());
  }

  #look(): void {
    if (!this.#calling && !this.#isStopped && this.#reach.mayTry && this.#isAnythingDue()) void this.#round();
  }

  #isAnythingDue(): boolean {
    const { clock, elapsed, leaseMs } = this.#options;
    const isHeard = elapsed() - this.#calledAt < leaseMs / 2;
    if (!isHeard || !this.isReachable || this.#farewells.length > 0 || this.#resting.hasUntold) return true;
    const nowMs = clock.now();
    for (const lease of this.#active.values()) if (lease.isIdle || lease.isDue(nowMs, leaseMs)) return true;
    return false;
  }

  /** One call, and another where somebody asked meanwhile. */
  #round(): Promise<void> {
    this.#calling = this.#call().finally(() => {
      this.#calling = null;
      if (this.#isWoken && !this.#isStopped) void this.#round();
    });
    return this.#calling;
  }

  async #call(): Promise<void> {
    this.#sortOutIdle();
    while (this.#farewells.length > 0) await this.#leave();
    this.#isWoken = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#claim();
    for (const resolve of waiting) resolve();
  }

  async #claim(): Promise<void> {
    const { store, clock, elapsed } = this.#options;
    const caller = this.#caller();
    const sentAt = elapsed();
    this.#calledAt = sentAt;
    const leases = this.#dueLeases(caller.nowMs);
    const claims = leases.map((lease) => lease.claim(caller.nowMs));
    this.traffic.claims += claims.length;
    const resting = this.#resting.untold(MOST_CLAIMS);
    const last = resting.map((lease) => lease.farewell(caller.nowMs).claim);
    const claimed = (await this.#ask(() => store.claim(caller, [...claims, ...last])))?.answer;
    if (!claimed) return;
    this.#resting.told(resting);
    this.#settle(claimed.settlesInMs);
    // One that has lost its data has not heard of all of them.
    this.#processes = Math.max(1, claimed.processes, this.#isUnsettled ? this.#processes : 0);
    const nowMs = clock.now();
    for (const [at, lease] of claimed.leases.entries()) {
      const claim = claims[at];
      const forMs = (lease.expiresAtMs - caller.nowMs) * SAFE_PART;
      if (claim) leases[at]?.take(claim, lease, { sentAt, forMs, nowMs });
    }
    const unknown = leases.filter(({ needsLedger }) => needsLedger);
    this.#awaitsLedger = unknown.some(({ lacksLedger }) => lacksLedger);
    if (unknown.length > 0 && !this.#isUnsettled) void this.#restore(unknown);
  }

  /** @param inMs milliseconds until whatever the store has forgotten is over; 0: it has forgotten nothing */
  #settle(inMs: number): void {
    const { clock, elapsed } = this.#options;
    const settledAt = elapsed() + inMs;
    const hasLost = inMs > 0 && settledAt > this.#settledAt + JITTER_MS;
    this.#settledAt = settledAt;
    if (hasLost) this.#resting.tellAgain(clock.now());
    // Whoever leases from it then must not be given what was used here.
    if (this.#resting.hasUntold) this.#wake();
  }

  /** Those that the store should hear of now, and with them those that would be next. */
  #dueLeases(nowMs: number): readonly HeldLease[] {
    const { leaseMs } = this.#options;
    const due: HeldLease[] = [];
    for (const lease of this.#active.values()) {
      if (!lease.isDue(nowMs, leaseMs, leaseMs / 4)) continue;
      // Those that somebody waits for come first, however many there are.
      if (lease.isNeeded) due.unshift(lease);
      else due.push(lease);
    }
    if (due.length > MOST_CLAIMS) this.#wake();
    return due.slice(0, MOST_CLAIMS);
  }

  #sortOutIdle(): void {
    const nowMs = this.#options.clock.now();
    for (const lease of this.#active.values()) {
      if (!lease.isIdle) continue;
      this.#active.delete(lease.name);
      const { claim, isLeft } = lease.farewell(nowMs);
      if (isLeft) this.#farewells.push(claim);
      else this.#resting.add(lease, nowMs);
    }
  }

  async #leave(): Promise<void> {
    const claims = this.#farewells.splice(0, MOST_CLAIMS);
    const caller = this.#caller();
    const heard = await this.#ask(() => this.#options.store.leave(caller, claims));
    // Where it is not heard, leases expire, and the ledger tells what was used. What is left of them must not come behind a claim
    // to the same.
    if (!heard) this.#farewells = [];
  }

  /** Says what the ledger has of counters of which nobody did, or whose holder has vanished. */
  async #restore(leases: readonly HeldLease[]): Promise<void> {
    const { store, ledger, clock, elapsed, leaseMs, log } = this.#options;
    if (this.#isRestoring || elapsed() < this.#readAgainAt) return;
    this.#isRestoring = true;
    const counters = leases.map(({ name, period, limit, endUser }) => ({
      counter: name,
      period,
      limit,
      endUser,
    }));
    try {
      const fences = (await this.#ask(() => store.restoring(this.#caller(), counters)))?.answer;
      const words = counters.flatMap((one, at) => {
        const fence = fences?.[at];
        return typeof fence === 'number' ? [{ ...one, fence, spent: 0 }] : [];
      });
      if (words.length === 0) {
        // Somebody else does it.
        clock.after(AGAIN_MS, () => this.#wake());
        return;
      }
      const spent = await inTime(
        spentOf(words, ledger, clock.now(), 2 * leaseMs + CLOCKS_DIFFER_MS),
        leaseMs,
        clock,
      );
      const told = words.map(({ counter, period, fence }, at) => ({
        counter,
        period,
        fence,
        spent: spent[at] ?? 0,
      }));
      await this.#ask(() => store.restored(this.#caller(), told));
      this.traffic.restored += told.length;
      this.#wake();
    } catch (error) {
      for (const lease of leases) lease.isUnreadable = true;
      this.#awaitsLedger = false;
      this.#readAgainAt = elapsed() + leaseMs;
      log.warn('what limits have used cannot be read from the ledger', { error });
    } finally {
      this.#isRestoring = false;
    }
  }

  async #ask<T>(call: () => Promise<T>): Promise<{ readonly answer: T } | null> {
    this.traffic.calls += 1;
    const answer = await this.#reach.ask(call);
    if (!answer) this.traffic.failures += 1;
    return answer;
  }

  #caller(): Caller {
    this.#turn += 1;
    return { holder: this.#options.holder, turn: this.#turn, nowMs: this.#options.clock.now() };
  }
}
