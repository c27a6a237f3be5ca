// What one process has of one counter that processes share: how far it may go, how fast it uses that, and what it asks for
// next. Synchronous; knows no store.
import {
  type Ceiling,
  type Claim,
  type Counter,
  isInLedger,
  type Lease,
  type Limit,
} from '../limits/index.ts';

/** What holds for all leases of a process just now. */
export interface LeaseTerms {
  /** Milliseconds that only go forward: leases hold by them, whatever happens to the clock. */
  readonly elapsed: () => number;
  /** True as long as nobody can be asked: what counts then is this process's share. */
  readonly isAlone: () => boolean;
  /** True as long as whoever is asked may have forgotten leases that others still have: nothing new is leased until then. */
  readonly isUnsettled: () => boolean;
  /** How many processes share, as last known; 0: a process that nobody can be asked for gets nothing more. */
  readonly sharers: () => number;
  /** The store has to hear of a lease, at the next look at all of them. */
  readonly keep: (lease: HeldLease) => void;
  /** A lease lacks something: that does not wait for the next look. */
  readonly wake: () => void;
}

interface LeaseTimes {
  /** When the claim was sent, by `elapsed`. */
  readonly sentAt: number;
  /** How long the lease holds from then on, in milliseconds. */
  readonly forMs: number;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** Over how long the speed is averaged. */
const AVERAGE_MS = 2000;
/** For how long a slice should last; less where windows are short. */
const SLICE_MS = 2000;
/** How much of that may be left when more is asked for. */
const LOW = 0.4;
/** Part of a limit that is asked for as long as nobody knows how fast it goes. */
const FIRST_PART = 1 / 32;
/** How long nothing is asked for again after there was none, in milliseconds. */
const NONE_MS = 150;
const CONCURRENT_SLICE_MS = 500;
/** How long what was got for a waiting request is not given back before the request has taken it, in milliseconds. */
const TAKEN_WITHIN_MS = 50;
/** After so long without a request a lease is given back. */
const IDLE_MS = 8000;

export class HeldLease implements Ceiling {
  readonly name: string;
  readonly counter: Counter;
  limit: Limit;
  /** The same for end users, whose hash it is. */
  readonly endUser: string | null;
  others = 0;
  period = -1;
  /** True: the store does not lease it before the ledger was asked. */
  needsLedger = false;
  /** True: the store could not be told what the ledger knows. */
  isUnreadable = false;
  readonly #terms: LeaseTerms;
  readonly #periodOf: (nowMs: number) => number;
  readonly #lasting: Lasting;
  readonly #sliceMs: number;
  #fence = 0;
  /** What it may use itself, not counting `#base`; and until when, by `elapsed`. */
  #ceiling = 0;
  #validUntil = -Infinity;
  /** Part of the counter that others answer for: it was left to the store, or the ledger has it. */
  #base = 0;
  #fairShare = Infinity;
  /** From here on more is asked for. */
  #low = 0;
  /** True once the store has said what others use in this period. */
  #isToldOf = false;
  #need = 0;
  #lacking = 0;
  /** Up to where requests wait that were told to try again, and until when it is kept for them, by `elapsed`. */
  #awaitedCeiling = 0;
  #awaitedUntil = -Infinity;
  #noneUntil = -Infinity;
  /** As long as nothing more is asked for in advance, because there was less than that. */
  #quietUntil = -Infinity;
  #mustYield = false;
  #taken = 0;
  #rate = 0;
  #ratedAt: number;
  #askedAt: number;
  /** Up to where running requests of the period before may go. */
  #before = 0;

  /** @param periodOf when the calendar period of a time began, in Unix milliseconds */
  constructor(
    { name, limit, counter, endUser }: Pick<HeldLease, 'name' | 'limit' | 'counter' | 'endUser'>,
    periodOf: (nowMs: number) => number,
    terms: LeaseTerms,
  ) {
    this.name = name;
    this.limit = limit;
    this.counter = counter;
    this.endUser = endUser;
    this.#periodOf = periodOf;
    this.#terms = terms;
    this.#lasting = lastingOf(limit);
    this.#sliceMs = sliceMs(limit);
    this.#ratedAt = this.#askedAt = terms.elapsed();
  }

  room(nowMs: number, periodStart?: number): number {
    if (periodStart !== undefined && periodStart < this.#turnTo(nowMs)) return this.#before;
    this.#turnTo(nowMs);
    const valid = this.#ceilingNow(this.#terms.elapsed());
    return this.#base + (this.#isBlind ? Math.max(valid, this.#share()) : valid);
  }

  took(amount: number): void {
    this.#taken += amount;
    const elapsed = (this.#askedAt = this.#terms.elapsed());
    // Of what is taken while nobody can be asked, the store hears as soon as it answers.
    if (elapsed >= this.#validUntil) this.#terms.keep(this);
  }

  lacks(amount: number, nowMs: number, periodStart?: number): boolean {
    const elapsed = this.#terms.elapsed();
    this.#askedAt = elapsed;
    if (this.#isBlind || elapsed < this.#noneUntil) return false;
    // Nothing more comes of a period that is over.
    if (periodStart !== undefined && periodStart < this.#turnTo(nowMs)) return false;
    // One at a time must fit; it would be good to have enough for all.
    const own = this.#own(nowMs);
    const missing = Math.max(1, own + amount - Math.max(own, this.#ceilingNow(elapsed)));
    this.#need = Math.max(this.#need, missing);
    this.#lacking += amount;
    this.#terms.keep(this);
    this.#terms.wake();
    return true;
  }

  mayHaveMore(): boolean {
    return !this.#isBlind && this.#terms.elapsed() >= this.#noneUntil;
  }

  /** True where somebody waits for it. */
  get isNeeded(): boolean {
    return this.#need > 0;
  }

  /** True where somebody waits for it, and nobody knows whether there is any before the ledger was asked. */
  get lacksLedger(): boolean {
    return this.isNeeded && this.needsLedger && !this.isUnreadable;
  }

  /** True where somebody will say soon what others use. Money waits for that; nothing else does. */
  get isAwaited(): boolean {
    return this.limit.rule.kind === 'usd' && this.#terms.isUnsettled();
  }

  /** Whether the store should be told now. @param ahead milliseconds by which it may be too early */
  isDue(nowMs: number, leaseMs: number, ahead = 0): boolean {
    this.#turnTo(nowMs);
    if (this.isNeeded || this.needsLedger || this.#mustYield) return true;
    const elapsed = this.#terms.elapsed();
    if (this.#validUntil - leaseMs / 2 <= elapsed + ahead) return true;
    return this.#own(nowMs) > this.#low && this.#quietUntil <= elapsed;
  }

  /** True where nobody but this process and the store knows what was used: of a rate the ledger does not. */
  get isRate(): boolean {
    return this.limit.rule.window.type === 'rolling' && !isInLedger(this.#lasting);
  }

  /** True where nobody has asked for it lately, and nothing runs: the store may count what was used by itself. */
  get isIdle(): boolean {
    if (this.isNeeded || this.counter.reserved > 0) return false;
    return this.#terms.elapsed() - this.#askedAt > IDLE_MS;
  }

  /** What is said to the store, and from then on is all that may be used until it has answered. */
  claim(nowMs: number): Claim {
    this.#turnTo(nowMs);
    const elapsed = this.#terms.elapsed();
    const own = this.#own(nowMs);
    this.#rateAt(elapsed);
    const need = this.#need;
    const target = Math.max(this.#target(own), elapsed < this.#awaitedUntil ? this.#awaitedCeiling : 0);
    const held = this.#ceilingNow(elapsed);
    const used = Math.max(own, Math.min(held, target));
    this.#ceiling = Math.min(used, held);
    this.#need = this.#lacking = 0;
    return { ...this.#said(own), used, need, want: Math.max(need, target - used) };
  }

  /**
   * What the store may count by itself from now on; here nothing more is used.
   * @returns whether it is `left` for good; what rolls is not: it stays this process's, and comes free with time
   */
  farewell(nowMs: number): { readonly claim: Claim; readonly isLeft: boolean } {
    this.#turnTo(nowMs);
    const own = this.#own(nowMs);
    const claim = { ...this.#said(own), used: own, need: 0, want: 0 };
    this.#ceiling = this.#low = 0;
    this.#validUntil = -Infinity;
    const { window, kind } = this.limit.rule;
    const isLeft = window.type !== 'rolling';
    if (isLeft) this.#fence = 0;
    if (isLeft && kind !== 'concurrent') this.#base = this.counter.used(nowMs);
    return { claim, isLeft };
  }

  /** Takes the store's answer to a claim. */
  take(claim: Claim, lease: Lease, { sentAt, forMs, nowMs }: LeaseTimes): void {
    if (claim.period !== this.period) return;
    this.#fence = lease.fence;
    this.others = lease.others;
    this.#fairShare = lease.fairShare;
    // Whoever comes back to a store that has forgotten it has used what others were given since: its own does not come free again.
    const beyond = this.isRate ? Math.max(0, lease.ceiling + lease.others - claim.limit) : 0;
    // As long as leases may be forgotten, nobody has more than before.
    const most = this.#terms.isUnsettled() ? this.#ceiling : Infinity;
    this.#ceiling = Math.max(0, Math.min(most, lease.ceiling - beyond));
    this.#validUntil = sentAt + forMs;
    this.needsLedger = lease.needsLedger;
    if (lease.wasTakenOver) this.#base += claim.settled;
    const elapsed = this.#terms.elapsed();
    const more = lease.ceiling - claim.used;
    if (claim.need > more && lease.needsLedger && !this.isUnreadable) {
      // Whether there is more is not known before the ledger was asked: then it is asked for again.
      this.#need = Math.max(this.#need, claim.need - more);
      this.#lacking = Math.max(this.#lacking, claim.want - more);
    } else if (claim.need > more) {
      // Nor before it is settled what others have.
      if (!this.isAwaited) this.#noneUntil = elapsed + NONE_MS;
    } else if (claim.need > 0) {
      this.#awaitedCeiling = claim.used + claim.need;
      this.#awaitedUntil = elapsed + TAKEN_WITHIN_MS;
    }
    if (claim.want > more) this.#quietUntil = elapsed + NONE_MS;
    if (!lease.needsLedger) this.isUnreadable = false;
    this.#isToldOf ||= !lease.needsLedger;
    const own = this.#own(nowMs);
    this.#mustYield = lease.fairShare < claim.limit && lease.ceiling > Math.max(own, lease.fairShare);
    this.#low = own + (1 - LOW) * (lease.ceiling - own);
  }

  #said(own: number): Omit<Claim, 'used' | 'need' | 'want'> {
    const { rule } = this.limit;
    const settled = isInLedger(this.#lasting)
      ? Math.max(0, own - this.counter.reserved - this.counter.late)
      : 0;
    return {
      counter: this.name,
      period: this.period,
      limit: rule.amount,
      settled,
      ...this.#lasting,
      fence: this.#fence,
    };
  }

  /** True where nobody can say what others use, and it is not waited for. */
  get #isBlind(): boolean {
    if (this.isUnreadable || this.#terms.isAlone()) return true;
    return this.#terms.isUnsettled() && !this.isAwaited;
  }

  #own(nowMs: number): number {
    return Math.max(0, this.counter.used(nowMs) - this.#base);
  }

  #ceilingNow(elapsed: number): number {
    return elapsed < this.#validUntil ? this.#ceiling : 0;
  }

  /** How much it would like to have, all in all. */
  #target(own: number): number {
    const { amount } = this.limit.rule;
    const growth = this.#rate > 0 ? this.#rate * this.#sliceMs : amount * FIRST_PART;
    const wanted = own + Math.max(this.#lacking, Math.ceil(growth));
    return Math.min(wanted, Math.max(own, this.#fairShare));
  }

  /** What it may use while nobody can be asked. */
  #share(): number {
    const sharers = this.#terms.sharers();
    if (sharers === 0) return 0;
    const { amount } = this.limit.rule;
    // What comes free by itself does so for all.
    const even = Math.floor(amount / sharers);
    if (!isInLedger(this.#lasting) || !this.#isToldOf) return even;
    const left = Math.max(0, amount - this.#ceiling - this.others);
    // What others have leased since is not known here: who has less than an even part does not go beyond that.
    return Math.min(this.#ceiling + Math.floor(left / sharers), Math.max(this.#ceiling, even));
  }

  #rateAt(elapsed: number): void {
    const passed = elapsed - this.#ratedAt;
    if (passed <= 0) return;
    const keeps = Math.exp(-passed / AVERAGE_MS);
    this.#rate = this.#rate * keeps + (this.#taken / passed) * (1 - keeps);
    this.#taken = 0;
    this.#ratedAt = elapsed;
  }

  #turnTo(nowMs: number): number {
    const period = this.#periodOf(nowMs);
    if (period === this.period) return period;
    this.#before = this.#base + this.#ceiling;
    this.period = period;
    this.#base = this.#ceiling = this.#fence = this.others = this.#need = this.#lacking = 0;
    this.#validUntil = this.#noneUntil = this.#quietUntil = -Infinity;
    this.#low = this.#awaitedCeiling = 0;
    this.needsLedger = this.isUnreadable = this.#isToldOf = this.#mustYield = false;
    return period;
  }
}

const HOUR = 3_600_000;
const LEAST_REVIEW_MS = 1000;

type Lasting = Pick<Claim, 'lingersMs' | 'reviewMs'>;

/** How long what a process used still counts when it is gone, and how often the ledger is asked what of it does. */
function lastingOf({ rule: { kind, window } }: Limit): Lasting {
  if (kind === 'concurrent') return { lingersMs: 0, reviewMs: null };
  if (window.type !== 'rolling') return { lingersMs: null, reviewMs: null };
  // Of rates no more is known than that.
  const isRate = kind !== 'usd' && window.ms <= HOUR;
  return { lingersMs: window.ms, reviewMs: isRate ? null : Math.max(LEAST_REVIEW_MS, window.ms / 60) };
}

function sliceMs({ rule: { kind, window } }: Limit): number {
  if (kind === 'concurrent') return CONCURRENT_SLICE_MS;
  return window.type === 'rolling' ? Math.min(SLICE_MS, window.ms / 2) : SLICE_MS;
}
