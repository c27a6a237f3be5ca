// `truncation: "auto"`: leaves out the oldest steps of a conversation until the rest fits into the context of the model
// that is asked. What the system says stays, a call is never parted from its output, and neither is the last word.
// Where nothing may be left out, what surely does not fit is refused.
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { asString } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { countItemTokens, textCharsOf } from '../../accounts/ledger/index.ts';

export interface Truncated {
  readonly request: CanonicalRequest;
  /** Items left out. */
  readonly omitted: number;
}

/** Room for the answer where the request names no limit, as a share of the context. */
const ANSWER_SHARE = 0.25;
const ANSWER_TOKENS = 4096;

/**
 * The request as it fits; unchanged where it does, or where the context is unknown.
 * @param contextLength tokens that the endpoint holds
 * @param isOver nobody waits for it any longer
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

/** Fewer characters of text than this for each token of the context are not worth counting. */
const FEWEST_CHARS = 2;
/** How far the estimate may be above what another family's tokenizer counts. */
const DOUBT = 1.25;

/**
 * Refuses an input that is longer than the context beyond any doubt; what is near the limit only
 * the upstream can judge. Of protocols without `truncation` nothing is asked.
 * @param isOver nobody waits for it any longer
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
  if (tokens <= contextLength * DOUBT) return undefined;
  return new GatewayError(
    'context_overflow',
    `input: about ${tokens} tokens do not fit into the model's context of ${contextLength}; shorten it, or send "truncation": "auto"`,
    { param: 'input' },
  );
}

/**
 * Indices of what stands and falls together: a word of the user, or a step of the assistant with the results of its
 * calls, and whatever was said between a call and its result.
 */
function stepsOf(items: readonly Item[]): readonly (readonly number[])[] {
  let steps: number[][] = [];
  /** Position of each call, by its id. */
  const callers = new Map<string, number>();
  let previous: 'user' | 'assistant' | 'result' | undefined;
  items.forEach((item, index) => {
    const speaker = speakerOf(item);
    if (speaker === 'system') return;
    const last = steps.at(-1);
    // A result belongs to the calls before it, and an assistant's items to each other until a result has come.
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

/** The same with everything from the step of this item on as one step. */
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
