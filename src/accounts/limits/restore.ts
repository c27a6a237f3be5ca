// Restores counters from the ledger, after a start or for new limits. Budgets and daily limits continue where they were.
// Rates per second or minute start at 0.
import type { Counter } from './counter.ts';
import type { LedgerSum, LedgerSums, SumQuery } from './ledger-sums.ts';
import type { Limiter } from './limiter.ts';
import { ruleOf, type LimitEntry, type LimitRule } from './rule.ts';
import { questionName, type UnreadLimits } from './unread-limits.ts';
import { ownerWord, type Limit, type Owner, type Scope } from './scope.ts';
import type { UnixMs } from '../../base/units.ts';

const HOUR = 3_600_000;

/** A query to the ledger, and the rules that it restores. */
export interface Question {
  readonly by: Owner['kind'];
  readonly rule: LimitRule;
}

/** Sum of one counter in the ledger. */
interface Known {
  readonly counter: Counter;
  /** Amount settled before the query: already counted, and contained in the ledger's sums. */
  readonly settled: number;
  readonly sums: { readonly amount: number; readonly atMs: UnixMs }[];
}

/**
 * Restores the counters of some owners from the ledger's sums. Usage counted in the meantime is kept.
 * @param scopes scopes to restore: all at a start, later those with new limits
 * @param nowMs the limiter's monotonic time
 * @param unread learns which queries are done; those done before are not repeated
 */
export async function restoreFromLedger(
  limiter: Limiter,
  scopes: readonly Scope[],
  ledger: LedgerSums,
  nowMs: UnixMs,
  unread: UnreadLimits | null = null,
): Promise<void> {
  // Built on first use, because an empty ledger needs none.
  let byOwner: Map<string, Scope> | undefined;
  const { stepMs } = limiter;
  const startOf = ({ rule }: Question): number =>
    rule.window.type === 'rolling'
      ? nowMs + stepMs - rule.window.ms
      : limiter.periodStart(rule.window, nowMs);
  // Shortest windows first, because the ledger is read from its newest record on.
  for (const question of questionsOf(scopes).toSorted((a, b) => startOf(b) - startOf(a))) {
    const name = questionName(question.by, question.rule);
    if (unread && !unread.isUnread(name)) continue;
    const known = countersInUse(scopes, question, nowMs);
    const periodStart = limiter.periodStart(question.rule.window, nowMs);
    for await (const sums of ledger.read(
      queryOf(question, periodStart, nowMs + stepMs, ownersIn(scopes, question)),
    ))
      for (const given of sums) {
        const sum = { ...given, atMs: given.atMs - stepMs };
        byOwner ??= new Map(scopes.map((each) => [ownerWord(each.owner), each]));
        const scope = byOwner.get(ownerWord({ kind: question.by, id: sum.ownerId }));
        if (scope) note(limiter, scope, question, sum, known, nowMs);
      }
    for (const one of known.values()) set(one, nowMs);
    unread?.answered(name);
  }
}

/** Names of the queries for some owners, as in `UnreadLimits`. */
export function questionNamesOf(scopes: readonly Scope[]): readonly string[] {
  return questionsOf(scopes).map(({ by, rule }) => questionName(by, rule));
}

/** One query per kind, window and kind of owner. The rules of 100,000 keys need only a few. */
function questionsOf(scopes: readonly Scope[]): readonly Question[] {
  const rules = new Map<string, LimitRule | null>();
  const questions = new Map<string, Question>();
  for (const { owner, entries } of scopes)
    for (const entry of entries) {
      const said = wordsOf(entry);
      let rule = rules.get(said);
      if (rule === undefined) rules.set(said, (rule = lasting(ruleOf(entry))));
      if (rule) questions.set(`${owner.kind} ${said}`, { by: owner.kind, rule });
    }
  return [...questions.values()];
}

/** Equal for entries with the same query. A string instead of a list, because there may be hundreds of thousands. */
function wordsOf({ requests, tokens, concurrent, usd, per, timezone, each }: LimitEntry): string {
  const isOf = (amount: number | undefined): number => (amount === undefined ? 0 : 1);
  return `${isOf(requests)}${isOf(tokens)}${isOf(concurrent)}${isOf(usd)} ${per} ${timezone} ${each}`;
}

/** The rule if its usage survives a restart, else null. */
function lasting(rule: LimitRule): LimitRule | null {
  if (rule.kind === 'concurrent') return null;
  if (rule.kind === 'usd' || rule.window.type !== 'rolling') return rule;
  return rule.window.ms > HOUR ? rule : null;
}

/** Owners per query. With more, all owners are read, because filtering costs more than skipping others. */
const MOST_OWNERS = 100;

function ownersIn(scopes: readonly Scope[], { by }: Question): readonly string[] {
  return scopes.length > MOST_OWNERS
    ? []
    : scopes.filter(({ owner }) => owner.kind === by).map(({ owner }) => owner.id);
}

/**
 * Creates the query for the ledger.
 * @param periodStart start of the calendar period in Unix milliseconds
 * @param owners ids of the owners; none, or more than `MOST_OWNERS`: all
 */
export function queryOf(
  { by, rule }: Question,
  periodStart: number,
  nowMs: UnixMs,
  owners: readonly string[],
): SumQuery {
  const isRolling = rule.window.type === 'rolling';
  const fromMs = rule.window.type === 'rolling' ? nowMs - rule.window.ms : periodStart;
  const query = { by, byEndUser: rule.eachEndUser, fromMs, inSlices: isRolling };
  const isOfSome = by !== 'gateway' && owners.length > 0 && owners.length <= MOST_OWNERS;
  return isOfSome ? { ...query, owners } : query;
}

/** True if a limit is restored by a query. */
function isFor({ owner, rule }: Limit, question: Question): boolean {
  return (
    owner.kind === question.by &&
    rule.measures === question.rule.measures &&
    rule.eachEndUser === question.rule.eachEndUser
  );
}

/** Counters in use, with their settled amounts. Counters of end users are created later, and are empty. */
function countersInUse(scopes: readonly Scope[], question: Question, nowMs: UnixMs): Map<Counter, Known> {
  const known = new Map<Counter, Known>();
  for (const scope of scopes) {
    if (!scope.isRead) continue;
    for (const limit of scope.limits) {
      const { counter } = limit;
      if (counter && isFor(limit, question))
        known.set(counter, { counter, settled: counter.used(nowMs) - counter.reserved, sums: [] });
    }
  }
  return known;
}

function note(
  limiter: Limiter,
  scope: Scope,
  question: Question,
  sum: LedgerSum,
  known: Map<Counter, Known>,
  nowMs: UnixMs,
): void {
  const amount = amountIn(sum, question.rule);
  for (const limit of scope.limitsOf(sum.model)) {
    if (!isFor(limit, question)) continue;
    const { counter } = limit;
    // There are too many end users to collect all of their sums first.
    if (!counter) limiter.counterOf(limit, sum.endUser).restore(amount, sum.atMs, nowMs);
    else {
      let one = known.get(counter);
      if (!one) known.set(counter, (one = { counter, settled: 0, sums: [] }));
      one.sums.push({ amount, atMs: sum.atMs });
    }
  }
}

/** Amount of a sum in the unit of a rule: requests, tokens or nano-dollars. */
export function amountIn(sum: LedgerSum, { kind }: LimitRule): number {
  if (kind === 'usd') return sum.nanoUsd;
  return kind === 'tokens' ? sum.tokens : sum.requests;
}

/** Adds the ledger's sums without the latest part, which the counter has counted itself. */
function set({ counter, settled, sums }: Known, nowMs: UnixMs): void {
  let counted = settled;
  for (const { amount, atMs } of sums.toSorted((a, b) => b.atMs - a.atMs)) {
    const seen = Math.min(counted, amount);
    counted -= seen;
    if (amount > seen) counter.restore(amount - seen, atMs, nowMs);
  }
}
