// Attempts and gateway tool uses of one request, in order. Append only; the record is made from it.
import type { Report, Usage } from '../canonical/index.ts';
import { addUsage, NO_USAGE } from '../canonical/index.ts';
import { type Cost, costOfUses, sumCosts } from '../accounts/ledger/index.ts';
import { nanoUsdOf } from '../accounts/limits/index.ts';
import type { Attempt } from './attempt/index.ts';
import type { ToolRun } from './finished-request.ts';
import type { FetchedMedia, ReadDocuments } from './media/index.ts';

/** Gateway tool uses of one answer and their cost, counted like the tokens of an attempt. */
interface ToolUses {
  /** Number of uses, by the tool's name in usage and prices. */
  readonly uses: Readonly<Record<string, number>>;
  readonly cost: Cost;
}

export class AttemptLog {
  readonly #attempts: Attempt[] = [];
  #toolUses: ToolUses | null = null;
  /** Usage of content that clients had received before another attempt completed the answer. */
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

  /** Media fetched for endpoints that do not accept URLs. */
  get fetched(): FetchedMedia {
    return (this.#fetched ??= new Map());
  }

  /** Files read for endpoints that do not accept them. */
  get documents(): ReadDocuments {
    return (this.#documents ??= new Map());
  }

  /** Report of the latest attempt. Undefined: there was none. */
  get report(): Report | undefined {
    return this.#attempts.at(-1)?.report;
  }

  /** Adds an attempt that begins. */
  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
  }

  /** Adds a finished tool call. */
  ran(run: ToolRun): void {
    this.#toolRuns.push(run);
  }

  /**
   * Adds tool uses.
   * @param priceOf USD per use; null: unknown
   */
  use(more: Readonly<Record<string, number>>, priceOf: (tool: string) => number | null): void {
    const uses: Record<string, number> = { ...this.#toolUses?.uses };
    for (const name in more) uses[name] = (uses[name] ?? 0) + (more[name] ?? 0);
    if (Object.keys(uses).length > 0) this.#toolUses = { uses, cost: costOfUses(uses, priceOf) };
  }

  /** Cost of gateway tools so far, where prices are known. */
  get toolsNanoUsd(): number {
    return nanoUsdOf(this.#toolUses?.cost.usd ?? 0);
  }

  /**
   * Cost of the request so far in USD, including failed attempts that may be charged. Undefined: a needed price is
   * unknown. Answers then omit it, because strict clients accept only a number or nothing.
   */
  costUsd(): number | undefined {
    return this.cost()?.usd ?? undefined;
  }

  /** The same with its known components. Null: nothing was charged. */
  cost(): Cost | null {
    const only = this.#attempts[0];
    // A single attempt shares its cost object with the record, so it is stored once.
    if (only && this.#attempts.length === 1 && !this.#toolUses) return only.charge().cost;
    const costs = this.#attempts.map((attempt) => attempt.charge().cost).filter((cost) => cost !== null);
    if (this.#toolUses) costs.push(this.#toolUses.cost);
    return costs.length > 1 ? sumCosts(costs) : (costs[0] ?? null);
  }

  /**
   * Notes that the last attempt completed an answer that others began.
   * @param output tokens of the earlier content, as reported to the client
   */
  completed(output: Usage['output']): void {
    const last = this.#attempts.at(-1);
    if (last) this.#begun.set(last, { ...NO_USAGE, output, estimated: true });
  }

  /** Usage of the answer that an attempt gave or completed, as reported to the client. Null: nothing was counted. */
  usageOf(attempt: Attempt): Usage | null {
    const { usage } = attempt.charge();
    const begun = this.#begun.get(attempt);
    return usage && begun ? addUsage([begun, usage]) : usage;
  }

  /**
   * Usage of an answer of several turns. Undefined: nothing was counted.
   * @param earlier attempts of the finished turns
   * @param last usage of the last turn, if known
   */
  usage(earlier: readonly Attempt[], last: Usage | null | undefined): Usage | undefined {
    if (earlier.length === 0 && !this.#toolUses) return last ?? undefined;
    const turns = earlier.map((attempt) => this.usageOf(attempt));
    const own = this.#toolUses && { ...NO_USAGE, tools: this.#toolUses.uses };
    return addUsage([...turns, last, own].filter((usage) => usage !== null && usage !== undefined));
  }
}
