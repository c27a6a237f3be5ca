// Types of facts about model families.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../../canonical/index.ts';

export interface FamilyFacts {
  readonly reasoningStyle?: ReasoningStyle;
  /** True: reasoning cannot be switched off. */
  readonly reasoningMandatory?: boolean;
  /** Accepted efforts, weakest first; empty: only on or off; null: not documented. */
  readonly efforts?: readonly string[] | null;
  /** Range of reasoning budgets in tokens. */
  readonly reasoningBudget?: { readonly min: number; readonly max: number | null };
  /** Parameters that the model rejects, in addition to those that its provider does not support. */
  readonly unsupported?: readonly Parameter[];
  /** Parameters in `unsupported` that the model accepts if reasoning is switched off. */
  readonly onlyWithoutReasoning?: readonly Parameter[];
  /** Preferred protocol, if the provider serves it. */
  readonly protocol?: ProtocolName | undefined;
  /** Tokens. */
  readonly maxOutputTokens?: number;
  readonly contextLength?: number;
  /** Format of its opaque reasoning when an aggregator passes it on with the model's own label. */
  readonly detailsFormat?: string;
  readonly quirks?: Partial<Quirks>;
  readonly inputModalities?: readonly string[];
}

/** Facts for matching names, with their source. */
export interface FamilyRow {
  readonly match: RegExp;
  /** Applies only to these protocols. */
  readonly over?: readonly ProtocolName[];
  /** Applies only if the provider's reasoning switch is one of these members. */
  readonly field?: readonly Quirks['reasoningField'][];
  readonly facts: FamilyFacts;
  /** Source of the facts. The header of `index.ts` says how far they were verified. */
  readonly source: string;
}
