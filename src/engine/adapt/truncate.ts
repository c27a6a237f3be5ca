// `truncation: "auto"`: drops the oldest steps of a conversation until the rest fits the model's context. System
// messages and the last step are kept, and a call stays together with its output. Without it, input that certainly
// does not fit is refused.
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { asString } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { countItemTokens, textCharsOf } from '../../accounts/ledger/index.ts';

export interface Truncated {
  readonly request: CanonicalRequest;
  /** Number of items dropped. */
  readonly omitted: number;
}

/** Share of the context reserved for the answer when the request sets no limit. */
const ANSWER_SHARE = 0.25;
const ANSWER_TOKENS = 4096;

/**
 * Returns the truncated request; unchanged when it fits or the context length is unknown.
 * @param contextLength of the endpoint, in tokens
 * @param isOver true: the client no longer waits
 */
export async function truncate(
  request: CanonicalRequest,
  contextLength: number | null,
  isOver: () => boolean,
): Promise<Truncated> {
  const whole = { request, omitted: 0 };
  if (request.state?.truncation !== 'auto' || contextLength === null) return whole;
  const answer = request.maxOutputTokens ?? Math.min(ANSWER_TOKENS, contextLength * ANSWER_SHARE);
  const tools = JSON.stringify(request.raw['tools'] ?? '').length / 4;
  const room = contextLength - answer - tools;
  const counts = await countItemTokens(request.items, isOver);
  let excess = counts.reduce((sum, count) => sum + count, 0) - room;
  if (excess <= 0) return whole;
  const omitted = new Set<number>();
  const steps = stepsOf(request.items);
  for (const step of steps.slice(0, -1)) {
    if (excess <= 0) break;
    for (const index of step) {
      omitted.add(index);
      excess -= counts[index] ?? 0;
    }
  }
  if (omitted.size === 0) return whole;
  const items = request.items.filter((_, index) => !omitted.has(index));
  return { request: { ...request, items }, omitted: omitted.size };
}

/** Input with fewer characters than this per token of context is not counted. */
const FEWEST_CHARS = 2;
/** Factor by which the estimate may exceed another tokenizer's count. */
const ESTIMATE_ERROR = 1.25;

/**
 * Refuses input that is certainly longer than the context. Borderline cases are left to the upstream, and protocols
 * without `truncation` are not checked.
 * @param isOver true: the client no longer waits
 * @returns the refusal, so that an endpoint with a larger context can be tried
 */
export async function overlong(
  { state, items }: CanonicalRequest,
  contextLength: number | null,
  isOver: () => boolean,
): Promise<GatewayError | undefined> {
  if (!state || state.truncation === 'auto' || contextLength === null) return undefined;
  if (textCharsOf(items) < contextLength * FEWEST_CHARS) return undefined;
  const tokens = (await countItemTokens(items, isOver)).reduce((sum, count) => sum + count, 0);
  if (tokens <= contextLength * ESTIMATE_ERROR) return undefined;
  return new GatewayError(
    'context_overflow',
    `input: about ${tokens} tokens exceed the model's context window of ${contextLength}. Shorten the input, or send "truncation": "auto".`,
    { param: 'input' },
  );
}

/**
 * Indices of items that can only be dropped together: a user message, or an assistant step with the results of its
 * calls and anything between a call and its result.
 */
function stepsOf(items: readonly Item[]): readonly (readonly number[])[] {
  let steps: number[][] = [];
  /** Index of each call, by call id. */
  const callers = new Map<string, number>();
  let previous: 'user' | 'assistant' | 'result' | undefined;
  items.forEach((item, index) => {
    const speaker = speakerOf(item);
    if (speaker === 'system') return;
    const last = steps.at(-1);
    // A result belongs to the calls before it. Assistant items belong together until a result follows.
    const belongs = speaker === 'result' || (speaker === 'assistant' && previous === 'assistant');
    if (last && belongs && previous !== 'user') last.push(index);
    else steps.push([index]);
    previous = speaker;
    const callId = callIdOf(item);
    if (callId === undefined) return;
    if (speaker !== 'result') callers.set(callId, index);
    else steps = joinedFrom(steps, callers.get(callId));
  });
  return steps;
}

/** Merges all steps from the one with this item into one step. */
function joinedFrom(steps: number[][], index: number | undefined): number[][] {
  const last = steps.at(-1);
  if (index === undefined || last === undefined || index >= (last[0] ?? 0)) return steps;
  const at = steps.findLastIndex((step) => (step[0] ?? 0) <= index);
  return [...steps.slice(0, at), steps.slice(at).flat()];
}

function callIdOf(item: Item): string | undefined {
  if (item.type === 'tool_call' || item.type === 'tool_result') return item.callId;
  return item.type === 'hosted_call' ? asString(item.source?.raw['call_id']) : undefined;
}

function speakerOf(item: Item): 'system' | 'user' | 'assistant' | 'result' {
  if (item.type === 'message') {
    if (item.role === 'assistant') return 'assistant';
    return item.role === 'user' ? 'user' : 'system';
  }
  if (item.type === 'tool_result') return 'result';
  return item.type === 'hosted_call' && item.kind.endsWith('_output') ? 'result' : 'assistant';
}
