// What the ledger has of some counters: asked where several processes share them, and one must say it for all.
import type { LedgerSums } from './ledger-sums.ts';
import { amountIn, queryOf, type Question } from './restore.ts';
import { stepMsOf } from './rolling-counter.ts';
import type { Limit } from './scope.ts';

/** A counter whose sum is asked for. */
export interface Spending {
  readonly limit: Limit;
  /** Hash of the end user where each has a counter; empty for requests that name nobody. */
  readonly endUser: string | null;
  /** Unix milliseconds at which its calendar period began; 0 where it has none. */
  readonly period: number;
}

/**
 * What was spent of each by everybody, settled: requests, tokens or nano-dollars. Rejects where the ledger cannot be read.
 * @param nowMs Unix milliseconds
 * @param marginMs by which windows that roll begin earlier: what processes have said of them may be as old, and clocks differ
 */
export async function spentOf(
  wanted: readonly Spending[],
  ledger: LedgerSums,
  nowMs: number,
  marginMs: number,
): Promise<readonly number[]> {
  const sums = wanted.map(() => 0);
  for (const { question, period, places, owners } of questionsOf(wanted)) {
    const { window } = question.rule;
    // What is counted together counts until the last of it is free: processes have said a step more than the window.
    const atMs = window.type === 'rolling' ? nowMs - marginMs - stepMsOf(window.ms) : nowMs;
    for await (const rows of ledger.read(queryOf(question, period, atMs, [...owners])))
      for (const row of rows)
        for (const at of places.get(placeOf(row.ownerId, question.rule.eachEndUser && row.endUser)) ?? []) {
          const rule = wanted[at]?.limit.rule;
          if (rule && rule.models?.(row.model) !== false) sums[at] = (sums[at] ?? 0) + amountIn(row, rule);
        }
  }
  return sums;
}

/** Counters that one question answers, by owner and end user. */
interface Asked {
  readonly question: Question;
  readonly period: number;
  readonly places: Map<string, number[]>;
  readonly owners: Set<string>;
}

function questionsOf(wanted: readonly Spending[]): Iterable<Asked> {
  const questions = new Map<string, Asked>();
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
