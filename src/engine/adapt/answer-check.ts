// A check of an answer before the client gets it: by a format, or by the grammars of its calls. Knows neither.
import type { CanonicalRequest, CollectedEvents, GatewayError } from '../../canonical/index.ts';

export interface AnswerCheck {
  /**
   * Part of the answer that is held until it was checked: all of it, or everything from a call of one of these tools
   * on.
   */
  readonly holds: 'everything' | ReadonlySet<string>;
  /** @param signal of the request that wants it */
  judge(events: CollectedEvents, signal: AbortSignal): Verdict | Promise<Verdict>;
}

export type Verdict =
  /** The answer as the client gets it. */
  | { readonly type: 'good'; readonly answer: CollectedEvents }
  | { readonly type: 'flawed'; readonly flaw: Flaw };

export interface Flaw {
  /** Asks the model to mend its answer. */
  readonly repair: CanonicalRequest;
  /**
   * Decides about a flawed answer.
   * @param mended what the model said to `repair`, or why it said nothing
   * @returns the error for the client, where a flawed answer is worth nothing to it
   */
  settle(
    mended: CollectedEvents | GatewayError,
    signal: AbortSignal,
  ): Settled | GatewayError | Promise<Settled | GatewayError>;
}

export interface Settled {
  readonly answer: CollectedEvents;
  /** True when it is the second answer, as a whole. */
  readonly isSecond: boolean;
}

/** Judges by each check in turn; the first flaw counts. */
export async function judge(
  checks: readonly AnswerCheck[],
  events: CollectedEvents,
  signal: AbortSignal,
): Promise<Verdict> {
  let answer = events;
  for (const check of checks) {
    const verdict = await check.judge(answer, signal);
    if (verdict.type === 'flawed') return verdict;
    answer = verdict.answer;
  }
  return { type: 'good', answer };
}

/** The name under which an upstream knows a tool that may be one of a group (`portable-request.ts`). */
export function nameUpstream(call: {
  readonly name: string;
  readonly namespace?: string | undefined;
}): string {
  return call.namespace === undefined ? call.name : `${call.namespace}__${call.name}`;
}

/**
 * False for an answer that ended early, by a limit or by the client's own wish: it cannot be whole, and asking again
 * would not make it so.
 */
export function endedByItself({ finish }: CollectedEvents): boolean {
  switch (finish?.reason) {
    case 'length':
    case 'content_filter':
    case 'stop_sequence':
    case 'pause':
    case 'refusal':
      return false;
    default:
      return true;
  }
}
