// The shape of a fact about a model family. Types only.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../../canonical/index.ts';

export interface FamilyFacts {
  readonly reasoningStyle?: ReasoningStyle;
  /** True: cannot be switched off. */
  readonly reasoningMandatory?: boolean;
  /** Efforts the model accepts, weakest first; empty: it can only be switched on or off; null: not documented. */
  readonly efforts?: readonly string[] | null;
  /** Legal interval of a reasoning budget in tokens. */
  readonly reasoningBudget?: { readonly min: number; readonly max: number | null };
  /** Parameters the model refuses, on top of what its provider lacks. */
  readonly unsupported?: readonly Parameter[];
  /** Members of `unsupported` that the model takes once it is told not to reason. */
  readonly onlyWithoutReasoning?: readonly Parameter[];
  /** Protocol to prefer where the provider serves it. */
  readonly protocol?: ProtocolName | undefined;
  /** Tokens. */
  readonly maxOutputTokens?: number;
  readonly contextLength?: number;
  /** Format of its opaque reasoning where an aggregator passes it through under the model's own label. */
  readonly detailsFormat?: string;
  readonly quirks?: Partial<Quirks>;
  readonly inputModalities?: readonly string[];
}

/** Facts for the names that match, with their source. */
export interface FamilyRow {
  readonly match: RegExp;
  /** Only when spoken to over one of these protocols. */
  readonly over?: readonly ProtocolName[];
  /** Only where the provider takes the reasoning switch in one of these fields. */
  readonly field?: readonly Quirks['reasoningField'][];
  readonly facts: FamilyFacts;
  /** Source of the facts; the head of `index.ts` says how far they were checked. */
  readonly source: string;
}
