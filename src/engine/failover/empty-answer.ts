// Answers that were charged and say nothing: which ones they are, and how they are told as a failure.
import type { FinishReason } from '../../canonical/index.ts';
import { GatewayError, inputTokens, outputTokens } from '../../canonical/index.ts';
import { EMPTY_ANSWER } from '../failure-table.ts';
import type { Meter } from '../attempt/index.ts';

/** Ends that leave open why nothing was said: limits, filters and refusals say why. */
const SILENT_ENDS: ReadonlySet<FinishReason> = new Set(['stop', 'tool_calls', 'unknown']);

/**
 * The failure of an answer without content that the upstream itself counted; null for one that has a reason to be empty.
 * @param slug of the endpoint
 */
export function emptyAnswer(
  { finish, usage }: Pick<Meter, 'finish' | 'usage'>,
  slug: string,
): GatewayError | null {
  if (!finish || !usage || usage.estimated || !SILENT_ENDS.has(finish.reason)) return null;
  const tokens = inputTokens(usage) + outputTokens(usage);
  if (tokens === 0) return null;
  return new GatewayError('upstream_unavailable', `${slug} counted ${tokens} tokens and said nothing`, {
    code: EMPTY_ANSWER,
  });
}
