// What was done for one request so far: its attempts, in order, and the uses of the gateway's own tools. Only grows.
import type { Report, Usage } from '../canonical/index.ts';
import { addUsage, NO_USAGE } from '../canonical/index.ts';
import { type Cost, costOfUses, sumCosts } from '../ledger/index.ts';
import { nanoUsdOf } from '../limits/index.ts';
import type { Attempt } from './attempt/index.ts';
import type { ToolRun } from './settlement.ts';
import type { FetchedMedia, ReadDocuments } from './media/index.ts';

/** What the gateway's own tools were used for in one answer, and what that cost: counted like an attempt's tokens. */
interface ToolUses {
  /** How often, by the tool's name in usage and prices. */
  readonly uses: Readonly<Record<string, number>>;
  readonly cost: Cost;
}

export class Trail {
  readonly #attempts: Attempt[] = [];
  #toolUses: ToolUses | null = null;
  readonly #toolRuns: ToolRun[] = [];
  #fetched: FetchedMedia | undefined;
  #documents: ReadDocuments | undefined;

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  get toolRuns(): readonly ToolRun[] {
    return this.#toolRuns;
  }

  /** What was fetched for endpoints that take no addresses. */
  get fetched(): FetchedMedia {
    return (this.#fetched ??= new Map());
  }

  /** What was read of files for endpoints that take none. */
  get documents(): ReadDocuments {
    return (this.#documents ??= new Map());
  }

  /** The report of the latest attempt; undefined before the first. */
  get report(): Report | undefined {
    return this.#attempts.at(-1)?.report;
  }

  /** Takes an attempt that begins. */
  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
  }

  /** Takes a call of a tool that is over. */
  ran(run: ToolRun): void {
    this.#toolRuns.push(run);
  }

  /** Takes further uses of tools. @param priceOf USD of one use; null when unknown */
  use(more: Readonly<Record<string, number>>, priceOf: (tool: string) => number | null): void {
    const uses: Record<string, number> = { ...this.#toolUses?.uses };
    for (const name in more) uses[name] = (uses[name] ?? 0) + (more[name] ?? 0);
    if (Object.keys(uses).length > 0) this.#toolUses = { uses, cost: costOfUses(uses, priceOf) };
  }

  /** What tools of the gateway have cost so far, as far as their prices are known. */
  get toolsNanoUsd(): number {
    return nanoUsdOf(this.#toolUses?.cost.usd ?? 0);
  }

  /**
   * What the request costs so far, in USD: earlier tries may have been charged as well. undefined when a needed price
   * is unknown: answers leave it out then, because strict clients take a number or nothing.
   */
  costUsd(): number | undefined {
    return this.cost()?.usd ?? undefined;
  }

  /** The same with what is known of its parts; null where nothing was charged. */
  cost(): Cost | null {
    const only = this.#attempts[0];
    // The usual single attempt shares its object with the record: it is stored once.
    if (only && this.#attempts.length === 1 && !this.#toolUses) return only.charge().cost;
    const costs = this.#attempts.map((attempt) => attempt.charge().cost).filter((cost) => cost !== null);
    if (this.#toolUses) costs.push(this.#toolUses.cost);
    return costs.length > 1 ? sumCosts(costs) : (costs[0] ?? null);
  }

  /**
   * The counts of an answer of several turns; undefined when nothing was counted.
   * @param earlier the attempts whose turns are over
   * @param last the counts of the last turn, as far as they are known
   */
  usage(earlier: readonly Attempt[], last: Usage | null | undefined): Usage | undefined {
    if (earlier.length === 0 && !this.#toolUses) return last ?? undefined;
    const turns = earlier.map((attempt) => attempt.charge().usage);
    const own = this.#toolUses && { ...NO_USAGE, tools: this.#toolUses.uses };
    return addUsage([...turns, last, own].filter((usage) => usage !== null && usage !== undefined));
  }
}
