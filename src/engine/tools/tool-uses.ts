// What the gateway's own tools were used for in one answer, and what that cost: counted like an attempt's tokens.
import type { Cost } from '../../ledger/index.ts';
import { costOfUses } from '../../ledger/index.ts';

export interface ToolUses {
  /** How often, by the tool's name in usage and prices. */
  readonly uses: Readonly<Record<string, number>>;
  readonly cost: Cost;
}

/** The uses so far and these together. @param priceOf USD of one use; null when unknown */
export function addUses(
  before: ToolUses | null,
  more: Readonly<Record<string, number>>,
  priceOf: (tool: string) => number | null,
): ToolUses | null {
  const uses: Record<string, number> = { ...before?.uses };
  for (const name in more) uses[name] = (uses[name] ?? 0) + (more[name] ?? 0);
  return Object.keys(uses).length === 0 ? null : { uses, cost: costOfUses(uses, priceOf) };
}
