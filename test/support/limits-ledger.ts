// A ledger that a test fills, as limits see it: sums by owner and model, in slices of an hour where they ask for them.
import type { LedgerSum, LedgerSums, Scope, SumQuery } from '../../src/accounts/limits/index.ts';

const HOUR = 3_600_000;

export interface LedgerEntry {
  readonly scopes: readonly Scope[];
  readonly endUser: string | null;
  readonly model: string;
  readonly admittedAt: number;
  readonly requests: number;
  readonly tokens: number;
  readonly nanoUsd: number;
}

export class LedgerOfTests implements LedgerSums {
  readonly entries: LedgerEntry[] = [];

  async *read(query: SumQuery): AsyncIterable<readonly LedgerSum[]> {
    const sums = new Map<string, LedgerSum>();
    for (const { scopes, ...entry } of this.entries) {
      const owner = scopes.find((scope) => scope.owner.kind === query.by)?.owner;
      if (!owner || entry.admittedAt < query.fromMs) continue;
      const hour = Math.floor(entry.admittedAt / HOUR);
      const endUser = query.byEndUser ? entry.endUser : null;
      const name = JSON.stringify([owner.id, endUser, entry.model, query.inSlices ? hour : null]);
      const { requests = 0, tokens = 0, nanoUsd = 0, atMs = 0 } = sums.get(name) ?? {};
      sums.set(name, {
        ownerId: owner.id,
        endUser,
        model: entry.model,
        endpoint: '',
        atMs: query.inSlices ? (hour + 1) * HOUR - 1 : Math.max(atMs, entry.admittedAt),
        requests: requests + entry.requests,
        tokens: tokens + entry.tokens,
        nanoUsd: nanoUsd + entry.nanoUsd,
      });
    }
    // As a database gives them: some at a time, and not at once.
    for (const sum of sums.values()) yield await Promise.resolve([sum]);
  }
}
