// Measured facts of one endpoint. One layer of the catalog: above documents about a provider and a model, below the
// operator's settings. Must not know how they were measured.
import type { Parameter, ProtocolName, Quirks, ReasoningStyle } from '../canonical/index.ts';

/** Only what was measured is there: an absent member says nothing. */
export interface MeasuredFacts {
  readonly quirks: Partial<Quirks>;
  /** True: the parameter has its effect. False: it is refused or ignored. */
  readonly parameters: Readonly<Partial<Record<Parameter, boolean>>>;
  readonly reasoningStyle?: ReasoningStyle | undefined;
  readonly reasoningMandatory?: boolean | undefined;
  /** Tokens. */
  readonly contextLength?: number | undefined;
}

/** Which endpoint was measured. Facts about another address say nothing, whatever the provider is called. */
export interface MeasuredPlace {
  readonly provider: string;
  readonly protocol: ProtocolName;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly baseUrl: string;
}

/** Facts that were measured at a place. Undefined: nothing was. */
export type FindMeasured = (place: MeasuredPlace) => MeasuredFacts | undefined;

/**
 * The parameters that an endpoint does not take.
 * @param documented as its provider and the family of its model have it
 * @param measured undefined when nothing was measured, or when the operator listed the parameters of the provider
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
 * Quirks about members that clients write themselves. The others are about members that the gateway makes, or that it
 * emulates.
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
 * True when a server that is documented to follow its protocol to the letter was found not to: a client's words may not
 * be passed on as they are.
 * @param documented its quirks without what was measured
 */
export function isUnfaithful(documented: Quirks, { quirks }: MeasuredFacts): boolean {
  return CLIENTS_WORDS.some((name) => quirks[name] !== undefined && quirks[name] !== documented[name]);
}
