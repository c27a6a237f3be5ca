// Measured facts of an endpoint. In the catalog they take precedence over documented facts, but not over the operator's
// settings.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';

/** An absent member was not measured. */
export interface MeasuredFacts {
  readonly quirks: Partial<Quirks>;
  /** True: effective. False: rejected or ignored. */
  readonly parameters: Readonly<Partial<Record<Parameter, boolean>>>;
  readonly reasoningStyle?: ReasoningStyle | undefined;
  readonly reasoningMandatory?: boolean | undefined;
  /** Tokens. */
  readonly contextLength?: number | undefined;
}

/** The measured endpoint. Results for another address do not apply, even for the same provider. */
export interface MeasuredPlace {
  readonly provider: string;
  readonly protocol: ProtocolName;
  /** The upstream's model name. */
  readonly model: string;
  readonly baseUrl: string;
}

/** Measured facts of an endpoint. Undefined: none. */
export type FindMeasured = (place: MeasuredPlace) => MeasuredFacts | undefined;

/**
 * Parameters that an endpoint does not support.
 * @param documented documented for its provider and model family
 * @param measured undefined: not measured, or the operator configured the provider's parameters
 */
export function unsupportedParameters(
  documented: Iterable<Parameter>,
  measured: MeasuredFacts['parameters'] | undefined,
): ReadonlySet<Parameter> {
  const unsupported = new Set(documented);
  for (const [name, takes] of Object.entries(measured ?? {}) as [Parameter, boolean][]) {
    if (takes) unsupported.delete(name);
    else unsupported.add(name);
  }
  return unsupported;
}

/**
 * Quirks of members that clients write themselves. Other quirks concern members that the gateway generates or emulates.
 */
const CLIENTS_WORDS: readonly (keyof Quirks)[] = [
  'maxTokensField',
  'systemRole',
  'mergeSystem',
  'textContent',
  'requiredToolChoice',
  'namedToolChoice',
  'strictTools',
];

/**
 * True if a server that is documented as faithful was measured to differ, so that client requests cannot be relayed
 * unchanged.
 * @param documented its quirks without measurements
 */
export function isUnfaithful(documented: Quirks, { quirks }: MeasuredFacts): boolean {
  return CLIENTS_WORDS.some((name) => quirks[name] !== undefined && quirks[name] !== documented[name]);
}
