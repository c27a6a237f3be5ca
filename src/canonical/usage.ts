// Token usage for all protocols. Its members partition the tokens, so that totals are sums and no token is counted twice.
import type { JsonValue } from '../base/json/index.ts';
import type { ProtocolName } from './protocol-name.ts';

/** Largest plausible count of tokens or calls. No real answer comes near it, and sums of such counts stay exact. */
export const MOST_COUNTED = 1_000_000_000;

/** A count that contradicts the same upstream's totals. */
export interface CountConflict {
  /**
   * Name of the count as in records: `cache_read`, `cache_write`, `audio`, `image`, `reasoning`, `total`; or the upstream's
   * own name of an implausibly large one.
   */
  readonly count: string;
  /** Tokens as reported by the upstream. */
  readonly said: number;
  /** Tokens as counted by the gateway. */
  readonly counted: number;
}

export interface Usage {
  readonly input: {
    /** Input tokens that are in no other member of `input`. */
    readonly uncached: number;
    readonly cacheRead: number;
    readonly cacheWrite5m: number;
    readonly cacheWrite1h: number;
    readonly audio: number;
    readonly image: number;
  };
  readonly output: {
    /** Output tokens that are in no other member of `output`. */
    readonly text: number;
    readonly reasoning: number;
    readonly audio: number;
  };
  /** Billed calls of hosted tools, by name: `{web_search: 2}`. */
  readonly tools: Readonly<Record<string, number>>;
  readonly acceptedPrediction: number;
  readonly rejectedPrediction: number;
  /** True: the upstream reports reasoning tokens, possibly 0. Absent: unknown. */
  readonly countsReasoning?: true | undefined;
  /** True: counted by the gateway, because the upstream reported no usage. */
  readonly estimated: boolean;
  /** Conflicts between the upstream's counts, and their resolution; absent: none. */
  readonly inconsistent?: readonly CountConflict[] | undefined;
  /** Protocol of `raw`; absent: `raw` is never passed on. */
  readonly protocol?: ProtocolName | undefined;
  /** The upstream's usage object, unchanged. */
  readonly raw: JsonValue;
}

export const NO_USAGE: Usage = {
  input: { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, audio: 0, image: 0 },
  output: { text: 0, reasoning: 0, audio: 0 },
  tools: {},
  acceptedPrediction: 0,
  rejectedPrediction: 0,
  estimated: false,
  raw: null,
};

/** All input tokens. */
export function inputTokens(usage: Usage): number {
  const i = usage.input;
  return i.uncached + i.cacheRead + i.cacheWrite5m + i.cacheWrite1h + i.audio + i.image;
}

/** All output tokens, reasoning included. */
export function outputTokens(usage: Usage): number {
  return usage.output.text + usage.output.reasoning + usage.output.audio;
}

/** Input tokens written to a prompt cache. */
export function cacheWriteTokens(usage: Usage): number {
  return usage.input.cacheWrite5m + usage.input.cacheWrite1h;
}

/** Adds up the usage of several turns. `raw` is kept only if there is one turn. */
export function addUsage(usages: readonly Usage[]): Usage {
  const [only] = usages;
  if (only && usages.length === 1) return only;
  const sum = (count: (usage: Usage) => number): number =>
    usages.reduce((total, usage) => total + count(usage), 0);
  const tools: Record<string, number> = {};
  for (const usage of usages)
    for (const name in usage.tools) tools[name] = (tools[name] ?? 0) + (usage.tools[name] ?? 0);
  const conflicts = usages.flatMap((usage) => usage.inconsistent ?? []);
  return {
    input: {
      uncached: sum(({ input }) => input.uncached),
      cacheRead: sum(({ input }) => input.cacheRead),
      cacheWrite5m: sum(({ input }) => input.cacheWrite5m),
      cacheWrite1h: sum(({ input }) => input.cacheWrite1h),
      audio: sum(({ input }) => input.audio),
      image: sum(({ input }) => input.image),
    },
    output: {
      text: sum(({ output }) => output.text),
      reasoning: sum(({ output }) => output.reasoning),
      audio: sum(({ output }) => output.audio),
    },
    tools,
    acceptedPrediction: sum((usage) => usage.acceptedPrediction),
    rejectedPrediction: sum((usage) => usage.rejectedPrediction),
    ...(usages.some(({ countsReasoning }) => countsReasoning) && { countsReasoning: true as const }),
    estimated: usages.some((usage) => usage.estimated),
    ...(conflicts.length > 0 ? { inconsistent: conflicts } : {}),
    raw: null,
  };
}
