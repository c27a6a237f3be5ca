// Validation of an answer before the client receives it: against a format, or against the grammars of its calls.
import type { CanonicalRequest, CollectedEvents, GatewayError } from '../../canonical/index.ts';

export interface AnswerCheck {
  /**
   * Part of the answer that is held back until it has been checked: all of it, or everything from the first call of
   * one of these tools.
   */
  readonly holds: 'everything' | ReadonlySet<string>;
  /** @param signal aborts when the client's request ends */
  judge(events: CollectedEvents, signal: AbortSignal): Verdict | Promise<Verdict>;
}

export type Verdict =
  /** The answer to deliver to the client. */
  | { readonly type: 'good'; readonly answer: CollectedEvents }
  | { readonly type: 'flawed'; readonly flaw: Flaw };

export interface Flaw {
  /** Request that asks the model to correct its answer. */
  readonly repair: CanonicalRequest;
  /**
   * Decides what to do with a flawed answer.
   * @param mended the model's answer to `repair`, or the error that it failed with
   * @returns an error for the client when the flawed answer is useless to it
   */
  settle(
    mended: CollectedEvents | GatewayError,
    signal: AbortSignal,
  ): Settled | GatewayError | Promise<Settled | GatewayError>;
}

export interface Settled {
  readonly answer: CollectedEvents;
  /** True when `answer` is the second answer as a whole. */
  readonly isSecond: boolean;
}

/** Runs the checks in order and stops at the first flaw. */
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

/** Name by which an upstream knows a tool that may belong to a group (`portable-request.ts`). */
export function nameUpstream(call: {
  readonly name: string;
  readonly namespace?: string | undefined;
}): string {
  return call.namespace === undefined ? call.name : `${call.namespace}__${call.name}`;
}

/**
 * False for an answer that ended early because of a limit or the client's own settings. It cannot be complete, and
 * repeating the request would not help.
 */
export function endedByItself({ finish }: CollectedEvents): boolean {
  switch (finish?.reason) {
    case 'length':
    case 'incomplete':
    case 'content_filter':
    case 'stop_sequence':
    case 'pause':
    case 'refusal':
      return false;
    default:
      return true;
  }
}
