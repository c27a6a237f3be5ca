// Limits shared with other processes. Each limited request asks the store for its amounts. Requests that arrive during a
// call are sent together in the next one. While the store is unreachable, `counters.when_unreachable` applies.
import {
  type Answered,
  type GrantRequest,
  type Caller,
  type Counter,
  type CounterStore,
  type LedgerSums,
  type Limit,
  limitId,
  type LimitRule,
  type Sharing,
  type Slot,
} from '../../accounts/limits/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { LedgerRestoration } from './ledger-restoration.ts';
import { OwnCells } from './own-cells.ts';
import { Question } from './question.ts';
import { Reach } from './reach.ts';
import { type OwnCell, SharedCount } from './shared-count.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Milliseconds between two checks whether the store must be called. */
const LOOK_MS = 250;
/** Milliseconds that a request waits for the ledger. */
const LEDGER_PATIENCE_MS = 2000;
/** Milliseconds that a running answer waits for the store. */
const STREAM_PATIENCE_MS = 250;
/** Maximum number of amounts, and of reports, per call, so that other processes are not delayed. */
const MOST_AMOUNTS = 1000;
const MOST_REPORTS = 500;

export interface SharedLimitsOptions {
  readonly store: CounterStore;
  /** Unique name of this process. */
  readonly holder: string;
  /** Milliseconds without a call after which the store declares a process dead. */
  readonly leaseMs: DurationMs;
  readonly ledger: LedgerSums;
  /** Start of a calendar period in Unix milliseconds; 0: the rule has none. */
  readonly periodStart: (rule: LimitRule, nowMs: UnixMs) => number;
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Behaviour while the store is unreachable: admit this process's share of each limit, nothing, or everything. */
  readonly whenUnreachable: 'local' | 'refuse' | 'allow';
  /** Number of processes to assume before the store has reported it. */
  readonly processes: number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Statistics of calls to the store, for metrics. */
export interface Traffic {
  calls: number;
  failures: number;
  /** Number of reported cells. */
  cells: number;
  /** Number of requests that waited for a response. */
  waits: number;
  /** Number of counters restored from the ledger. */
  restored: number;
}

export class SharedLimits implements Sharing {
  readonly traffic: Traffic = { calls: 0, failures: 0, cells: 0, waits: 0, restored: 0 };
  readonly #options: SharedLimitsOptions;
  readonly #reach: Reach;
  readonly #cells: OwnCells;
  readonly #restoration: LedgerRestoration;
  readonly #counts = new WeakMap<Counter, SharedCount>();
  #questions: Question[] = [];
  #calling: Promise<void> | null = null;
  #isWoken = false;
  #isStopped = false;
  #turn = 0;
  #lastReplyAtMs = 0;
  #epoch: number | null = null;
  #calledAt = -Infinity;
  #settledAt = 0;
  #processes: number;
  readonly #stopLooking: () => void;
  readonly #terms = {
    elapsed: (): number => this.#options.elapsed(),
    isAlone: (): boolean => !this.isReachable,
    isUnsettled: (): boolean => this.#settlesInMs > 0,
    processes: (): number | null => sharersOf(this.#options.whenUnreachable, this.#processes),
    periodOf: ({ rule }: Limit): number => this.#options.periodStart(rule, this.#options.clock.now()),
  };

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
    this.#processes = options.processes;
    this.#cells = new OwnCells({ name: options.holder, now: options.clock.now });
    this.#reach = new Reach({
      ...options,
      gone: 'the counter server is unreachable: limits apply to each process separately',
      back: 'the counter server is reachable again: limits are shared',
    });
    this.#restoration = new LedgerRestoration({
      ...options,
      ask: (call) => this.#ask(() => call(this.#caller())),
      restored: (counters) => {
        this.traffic.restored += counters;
      },
    });
    this.#stopLooking = options.clock.every(LOOK_MS, () => this.#look());
  }

  /** False while the store is unreachable. */
  get isReachable(): boolean {
    return this.#reach.isOpen;
  }

  /** Guarantees that currently do not hold, one sentence each. */
  get degraded(): readonly string[] {
    if (this.isReachable) return [];
    const holds = {
      local: `1/${this.#processes} of each limit applies locally`,
      refuse: 'limited requests are refused',
      allow: 'limits are not checked',
    }[this.#options.whenUnreachable];
    return [`the counter server is unreachable: ${holds}`];
  }

  /** Last known number of processes. */
  get processes(): number {
    return this.#processes;
  }

  /** Resolves when the store has responded and all processes have reported to it, or when it is unreachable. */
  async open(): Promise<void> {
    await this.#round();
    if (this.isReachable) await this.#pause(Math.min(this.#options.leaseMs, this.#settlesInMs));
  }

  /** Sends the last reports. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopLooking();
    await this.#calling;
    while (this.isReachable && this.#cells.hasDirty) await this.#call();
  }

  of(limit: Limit, counter: Counter, endUser: string | null): SharedCount {
    let count = this.#counts.get(counter);
    if (count) {
      count.limit = limit;
      return count;
    }
    const user = limit.rule.eachEndUser ? (endUser ?? '') : null;
    const name = user === null ? limitId(limit) : `${limitId(limit)} ${user}`;
    count = new SharedCount({ name, limit, counter, endUser: user }, this.#terms);
    this.#counts.set(counter, count);
    return count;
  }

  known(counter: Counter): SharedCount | null {
    return this.#counts.get(counter) ?? null;
  }

  take(
    asked: readonly GrantRequest[],
    isRunning: boolean,
    done: (granted: readonly number[] | null) => void,
  ): () => void {
    const { elapsed, clock } = this.#options;
    const cells = asked.map(({ counter, slot }) => this.#cellOf(counter, slot));
    let stopWaiting = (): void => {};
    const question = new Question(asked, cells, elapsed() + LEDGER_PATIENCE_MS, (granted) => {
      stopWaiting();
      done(granted);
    });
    this.#decide(question);
    if (isRunning && !question.isOver)
      stopWaiting = clock.after(STREAM_PATIENCE_MS, () => this.#decideLocally(question));
    return () => {
      stopWaiting();
      question.end();
    };
  }

  report(counter: Counter, slot: Slot): void {
    const cell = this.#cellOf(counter, slot);
    if (slot.used - cell.base - cell.pending < cell.published) cell.count.freed();
    this.#mark([cell]);
  }

  #cellOf(counter: Counter, slot: Slot): OwnCell {
    const count = this.#counts.get(counter);
    if (!count) throw new Error('The counter belongs to no limit.');
    return this.#cells.of(count, slot);
  }

  get #settlesInMs(): DurationMs {
    return this.#settledAt - this.#options.elapsed();
  }

  /** Calls the store, or decides without it while it is unreachable. */
  #decide(question: Question): void {
    if (question.isOver) return;
    if (question.isUndecidable) return this.#decideLocally(question);
    this.#questions.push(question);
    this.#wake();
  }

  #decideLocally(question: Question): void {
    this.#mark(question.decide(this.#options.clock.now(), (count) => count.share()));
  }

  /** Marks cells to be reported. */
  #mark(cells: readonly OwnCell[]): void {
    for (const cell of cells) this.#cells.mark(cell);
    if (cells.length > 0) this.#wake();
  }

  /** Decides again after an event, unless the request has waited too long. */
  async #again(question: Question, happens: Promise<unknown>): Promise<void> {
    const { elapsed } = this.#options;
    const late = this.#pause(question.untilMs - elapsed());
    await Promise.race([happens, late]);
    if (elapsed() < question.untilMs) this.#decide(question);
    else question.refuse();
  }

  #wake(): void {
    if (this.#isWoken || this.#isStopped || !this.#reach.mayTry) return;
    this.#isWoken = true;
    // Requests of one turn of the event loop are sent together.
    void Promise.resolve().then(() => this.#calling ?? this.#round());
  }

  #look(): void {
    if (this.#calling || this.#isStopped || !this.#reach.mayTry) return;
    const isRecent = this.#options.elapsed() - this.#calledAt < this.#options.leaseMs / 3;
    if (!isRecent || !this.isReachable || this.#cells.hasDirty) void this.#round();
  }

  /** Makes one call, and another if requests arrived in the meantime. */
  #round(): Promise<void> {
    this.#calling = this.#call().finally(() => {
      this.#calling = null;
      const isMore = this.#isWoken || this.#questions.length > 0;
      if (isMore && !this.#isStopped && this.#reach.mayTry) void this.#round();
    });
    return this.#calling;
  }

  async #call(): Promise<void> {
    this.#isWoken = false;
    this.#turn += 1;
    const cells: OwnCell[] = [];
    const add = (cell: OwnCell): void => {
      if (cell.turn === this.#turn) return;
      cell.turn = this.#turn;
      cell.at = cells.length;
      cells.push(cell);
    };
    const questions = this.#nextQuestions();
    for (const question of questions) for (const cell of question.cells) add(cell);
    for (const cell of this.#cells.takeDirty(MOST_REPORTS)) add(cell);
    const reports = cells.map((cell) => this.#cells.report(cell));
    const requests = questions.map((question) => question.wanted());
    this.#calledAt = this.#options.elapsed();
    this.traffic.cells += cells.length;
    this.traffic.waits += questions.length;
    const answered = await this.#ask(() => this.#options.store.take(this.#caller(), reports, requests));
    if (answered) this.#noteReply(answered);
    if (!answered || answered.isAway) {
      for (const cell of cells) this.#cells.mark(cell);
      if (answered) this.#cells.rename();
      // If the store is unreachable, requests that arrived in the meantime are decided as well.
      for (const question of [...questions, ...this.#questions.splice(0)]) this.#decide(question);
      return;
    }
    const nowMs = this.#options.clock.now();
    const refused: [Question, number][] = [];
    for (const [at, question] of questions.entries()) {
      const granted = answered.granted[at] ?? 0;
      if (typeof granted === 'number') refused.push([question, granted]);
      else this.#mark(question.grant(granted, nowMs));
    }
    for (const { count, period, at } of cells) {
      const { total, isUnknown } = answered.states[at] ?? { total: 0, isUnknown: false };
      count.received(total, period, nowMs);
      if (!isUnknown) count.isUnreadable = false;
    }
    const unread = cells.filter(({ at, count }) => answered.states[at]?.needsLedger || count.mayLackUsage);
    if (answered.settlesInMs === 0) this.#restoration.read(unread.map(({ count }) => count));
    for (const [question, index] of refused) this.#refuse(question, index, answered);
  }

  #noteReply({ atMs, epoch, processes, settlesInMs }: Answered): void {
    this.#lastReplyAtMs = atMs;
    this.#settledAt = this.#options.elapsed() + settlesInMs;
    // A store that lost its data does not know all processes yet.
    this.#processes = Math.max(1, processes, settlesInMs > 0 ? this.#processes : 0);
    if (this.#epoch !== null && this.#epoch !== epoch) this.#cells.publishAgain();
    this.#epoch = epoch;
  }

  /** @param index index of the amount that was not granted */
  #refuse(question: Question, index: number, { states, settlesInMs }: Answered): void {
    if (question.isOver) return;
    const { cell, need } = question.remote(index);
    if (settlesInMs > 0) {
      if (question.isUndecidable) return this.#decide(question);
      question.untilMs = this.#options.elapsed() + settlesInMs + LEDGER_PATIENCE_MS;
      void this.#again(question, this.#pause(settlesInMs));
    } else if (cell && states[cell.at]?.isUnknown && !cell.count.isUnreadable)
      void this.#again(question, this.#restoration.next());
    else {
      cell?.count.refused(need);
      question.refuse();
    }
  }

  /** Requests for the next call, without those that have ended. */
  #nextQuestions(): readonly Question[] {
    const questions: Question[] = [];
    let amounts = 0;
    while (amounts < MOST_AMOUNTS) {
      const question = this.#questions.shift();
      if (!question) break;
      if (question.isOver) continue;
      if (question.isUndecidable) {
        this.#decideLocally(question);
        continue;
      }
      questions.push(question);
      amounts += question.cells.length;
    }
    return questions;
  }

  async #ask<T>(call: () => Promise<T>): Promise<T | null> {
    this.traffic.calls += 1;
    const answer = await this.#reach.ask(call);
    if (!answer) this.traffic.failures += 1;
    return answer && answer.answer;
  }

  #caller(): Caller {
    const nowMs = this.#options.clock.now();
    return { holder: this.#cells.holder, turn: this.#turn, lastReplyAtMs: this.#lastReplyAtMs, nowMs };
  }

  #pause(ms: DurationMs): Promise<void> {
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => this.#options.clock.after(ms, resolve));
  }
}

function sharersOf(
  whenUnreachable: SharedLimitsOptions['whenUnreachable'],
  processes: number,
): number | null {
  if (whenUnreachable === 'allow') return null;
  return whenUnreachable === 'refuse' ? 0 : processes;
}
