// Attempts and uses of the gateway's own tools for one request, in order. Append only; the record is made from it.
import type { Report, Usage } from '../canonical/index.ts';
import { addUsage, NO_USAGE } from '../canonical/index.ts';
import { type Cost, costOfUses, sumCosts } from '../accounts/ledger/index.ts';
import { nanoUsdOf } from '../accounts/limits/index.ts';
import type { Attempt } from './attempt/index.ts';
import type { ToolRun } from './settlement.ts';
import type { FetchedMedia, ReadDocuments } from './media/index.ts';

/** Uses of the gateway's own tools in one answer, and what they cost: counted like an attempt's tokens. */
interface ToolUses {
  /** How often, by the tool's name in usage and prices. */
  readonly uses: Readonly<Record<string, number>>;
  readonly cost: Cost;
}

export class AttemptLog {
  readonly #attempts: Attempt[] = [];
  #toolUses: ToolUses | null = null;
  /** Content that clients had got of an answer that an attempt completed. */
  readonly #begun = new Map<Attempt, Usage>();
  readonly #toolRuns: ToolRun[] = [];
  #fetched: FetchedMedia | undefined;
  #documents: ReadDocuments | undefined;

  get attempts(): readonly Attempt[] {
    return this.#attempts;
  }

  get toolRuns(): readonly ToolRun[] {
    return this.#toolRuns;
  }

  /** Addresses that were fetched for endpoints that take none. */
  get fetched(): FetchedMedia {
    return (this.#fetched ??= new Map());
  }

  /** Files that were read for endpoints that take none. */
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

  /** Cost of the gateway's tools so far, as far as their prices are known. */
  get toolsNanoUsd(): number {
    return nanoUsdOf(this.#toolUses?.cost.usd ?? 0);
  }

  /**
   * Cost of the request so far, in USD: earlier tries may have been charged as well. undefined when a needed price
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

  /** Notes that the last attempt has completed what others began. @param output tokens of what they showed, as the client is told */
  completed(output: Usage['output']): void {
    const last = this.#attempts.at(-1);
    if (last) this.#begun.set(last, { ...NO_USAGE, output, estimated: true });
  }

  /** The counts of the answer that an attempt gave or completed, as its client is told; null where nothing was counted. */
  usageOf(attempt: Attempt): Usage | null {
    const { usage } = attempt.charge();
    const begun = this.#begun.get(attempt);
    return usage && begun ? addUsage([begun, usage]) : usage;
  }

  /**
   * The counts of an answer of several turns; undefined when nothing was counted.
   * @param earlier the attempts whose turns are over
   * @param last the counts of the last turn, as far as they are known
   */
  usage(earlier: readonly Attempt[], last: Usage | null | undefined): Usage | undefined {
    if (earlier.length === 0 && !this.#toolUses) return last ?? undefined;
    const turns = earlier.map((attempt) => this.usageOf(attempt));
    const own = this.#toolUses && { ...NO_USAGE, tools: this.#toolUses.uses };
    return addUsage([...turns, last, own].filter((usage) => usage !== null && usage !== undefined));
  }
}
