// Reads the ledger's sums of shared counters, to restore them in the store.
import type { LedgerPart } from './counter-store.ts';
import type { LedgerSums } from './ledger-sums.ts';
import { amountIn, queryOf, type Question } from './restore.ts';
import type { Limit } from './scope.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** A counter whose sum is needed. */
export interface RunningCost {
  readonly limit: Limit;
  /** Hash of the end user, for limits per end user; empty: requests without one. */
  readonly endUser: string | null;
  /** Start of its calendar period in Unix milliseconds; 0: none. */
  readonly period: number;
}

/**
 * Settled usage of each counter by all processes, latest first, in requests, tokens or nano-dollars. Rejects if the ledger
 * cannot be read.
 * @param marginMs milliseconds by which amounts in rolling windows count longer, because clocks differ
 */
export async function spentOf(
  wanted: readonly RunningCost[],
  ledger: LedgerSums,
  nowMs: UnixMs,
  marginMs: DurationMs,
): Promise<readonly (readonly LedgerPart[])[]> {
  const sums = wanted.map(() => new Map<number, number>());
  for (const { question, period, places, owners } of questionsOf(wanted)) {
    const isRolling = question.rule.window.type === 'rolling';
    const atMs = isRolling ? nowMs - marginMs : nowMs;
    for await (const rows of ledger.read(queryOf(question, period, atMs, [...owners])))
      for (const row of rows)
        for (const at of places.get(placeOf(row.ownerId, question.rule.eachEndUser && row.endUser)) ?? []) {
          const rule = wanted[at]?.limit.rule;
          if (!rule || rule.models?.(row.model) === false) continue;
          const ageMs = isRolling ? Math.max(0, atMs - row.atMs) : 0;
          sums[at]?.set(ageMs, (sums[at].get(ageMs) ?? 0) + amountIn(row, rule));
        }
  }
  return sums.map((parts) =>
    Array.from(parts, ([ageMs, amount]) => ({ ageMs, amount })).toSorted((a, b) => a.ageMs - b.ageMs),
  );
}

/** Counters that one query covers, by owner and end user. */
interface CounterQuery {
  readonly question: Question;
  readonly period: number;
  readonly places: Map<string, number[]>;
  readonly owners: Set<string>;
}

function questionsOf(wanted: readonly RunningCost[]): Iterable<CounterQuery> {
  const questions = new Map<string, CounterQuery>();
  for (const [at, { limit, endUser, period }] of wanted.entries()) {
    const { owner, rule } = limit;
    const name = `${owner.kind} ${rule.measures} ${rule.eachEndUser} ${period}`;
    let asked = questions.get(name);
    if (!asked) {
      const question = { by: owner.kind, rule };
      questions.set(name, (asked = { question, period, places: new Map(), owners: new Set() }));
    }
    asked.owners.add(owner.id);
    const place = placeOf(owner.id, rule.eachEndUser && endUser);
    const places = asked.places.get(place);
    if (places) places.push(at);
    else asked.places.set(place, [at]);
  }
  return questions.values();
}

function placeOf(ownerId: string, endUser: string | null | false): string {
  return `${ownerId}\n${endUser || ''}`;
}
