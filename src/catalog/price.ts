// Prices as data. Rates may increase with the size of the prompt. An absent rate is unknown, not zero.

/**
 * USD per million tokens: a number, or steps by the total prompt tokens, ascending. The last step whose `above` is
 * exceeded applies.
 */
export type Rate =
  | number
  | { readonly base: number; readonly steps: readonly { readonly above: number; readonly rate: number }[] };

/** Price of an endpoint. Token classes without a rate are charged at the rate of their parent class. */
export interface Price {
  /** USD per million uncached input tokens. */
  readonly input?: Rate | undefined;
  /** USD per million output tokens, including reasoning. */
  readonly output?: Rate | undefined;
  readonly cacheRead?: Rate | undefined;
  readonly cacheWrite5m?: Rate | undefined;
  readonly cacheWrite1h?: Rate | undefined;
  readonly inputAudio?: Rate | undefined;
  readonly outputAudio?: Rate | undefined;
  readonly inputImage?: Rate | undefined;
  /** USD per million reasoning tokens, if different from other output. */
  readonly outputReasoning?: Rate | undefined;
  /** USD per request. */
  readonly request?: number | undefined;
  /** USD per call of a hosted tool, by name. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
  /** Source of the prices: `config`, or the price library with its version. */
  readonly source: string;
  /** True if it, or a part of it, is missing in newer data. */
  readonly isKept?: boolean | undefined;
}
