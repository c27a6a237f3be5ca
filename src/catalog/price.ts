// Prices as data. A rate may rise with the size of the prompt; an absent rate is unknown, which is not zero.

/** USD per million tokens: one number, or steps by the prompt's total tokens (ascending; the last step whose `above` is exceeded counts). */
export type Rate =
  | number
  | { readonly base: number; readonly steps: readonly { readonly above: number; readonly rate: number }[] };

/** Price of one endpoint. Tokens of a class without a rate of its own are charged at its parent's rate. */
export interface Price {
  /** USD per million uncached input tokens. */
  readonly input?: Rate | undefined;
  /** USD per million output tokens, reasoning included. */
  readonly output?: Rate | undefined;
  readonly cacheRead?: Rate | undefined;
  readonly cacheWrite5m?: Rate | undefined;
  readonly cacheWrite1h?: Rate | undefined;
  readonly inputAudio?: Rate | undefined;
  readonly outputAudio?: Rate | undefined;
  readonly inputImage?: Rate | undefined;
  /** USD per million reasoning tokens, where they cost something else than other output. */
  readonly outputReasoning?: Rate | undefined;
  /** USD per request. */
  readonly request?: number | undefined;
  /** USD per call of a hosted tool, by name. */
  readonly tools?: Readonly<Record<string, number>> | undefined;
  /** Source of the numbers: `config`, or the price library with its version. */
  readonly source: string;
  /** True where newer data forgot it, or a part of it. */
  readonly isKept?: boolean | undefined;
}
