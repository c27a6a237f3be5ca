// Validation of an answer before the client receives it: against a format, or against the grammars of its calls.
import type { CanonicalRequest, CollectedEvents, GatewayError } from '../../canonical/index.ts';

export interface AnswerCheck {
  /**
   * Part of the answer that is held back until it has been checked: all of it, or everything from the first call of
   * one of these tools.
   */
  readonly holds: 'everything' | ReadonlySet<string>;
  /** @param signal aborts when the client's request ends */
  validate(events: CollectedEvents, signal: AbortSignal): Validation | Promise<Validation>;
}

export type Validation =
  /** The answer to deliver to the client. */
  | { readonly type: 'valid'; readonly answer: CollectedEvents }
  /** The answer is invalid. */
  | { readonly type: 'invalid'; readonly repair: Repair };

/** One attempt to have an invalid answer corrected. */
export interface Repair {
  /** Request that asks the model to correct its answer. */
  readonly request: CanonicalRequest;
  /**
   * Chooses between the invalid answer and the repaired one.
   * @param repaired the model's answer to `request`, or the error that it failed with
   * @returns an error for the client when the invalid answer is useless to it
   */
  choose(
    repaired: CollectedEvents | GatewayError,
    signal: AbortSignal,
  ): Chosen | GatewayError | Promise<Chosen | GatewayError>;
}

export interface Chosen {
  readonly answer: CollectedEvents;
  /** True when `answer` is the second answer as a whole. */
  readonly isSecond: boolean;
}

/** Runs the checks in order and stops at the first invalid answer. */
export async function validateAnswer(
  checks: readonly AnswerCheck[],
  events: CollectedEvents,
  signal: AbortSignal,
): Promise<Validation> {
  let answer = events;
  for (const check of checks) {
    const validation = await check.validate(answer, signal);
    if (validation.type === 'invalid') return validation;
    answer = validation.answer;
  }
  return { type: 'valid', answer };
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
