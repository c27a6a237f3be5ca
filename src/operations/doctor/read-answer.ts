// Reads an answer: its text, its calls, whether it was refused. Must not know what was asked.
import type { ErrorKind, GatewayError, ToolCallItem } from '../../canonical/index.ts';
import type { AskedAnswer } from '../../engine/index.ts';

/** Longest quotation of an upstream, in characters. */
const MOST_WORDS = 200;

/** The visible text. */
export function textOf({ collected }: AskedAnswer): string {
  return collected.items
    .flatMap((item) => (item.type === 'message' ? item.parts : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim();
}

export function callsOf({ collected }: AskedAnswer): readonly ToolCallItem[] {
  return collected.items.filter((item) => item.type === 'tool_call');
}

const REFUSALS: ReadonlySet<ErrorKind> = new Set(['invalid_request', 'unsupported', 'too_large']);

/**
 * True when the upstream says that the request itself is wrong: the feature under test, since all else is as always. An
 * empty account, a filter or a call that the model wrote wrongly may come with the same status.
 */
export function isRefused({ failure }: AskedAnswer): boolean {
  return failure !== null && failure.fault === 'client' && REFUSALS.has(failure.kind);
}

/** True when the answer proves nothing: an overload, a fault, a silence, or an end before the first word. */
export function isUnclear(answer: AskedAnswer): boolean {
  if (answer.failure) return !isRefused(answer);
  return textOf(answer) === '' && callsOf(answer).length === 0;
}

/** Why an answer is none, in the upstream's own words; or that it is empty. */
export function wordsOf(answer: AskedAnswer): string {
  const { failure, collected } = answer;
  if (failure) return wordsOfFailure(failure);
  const text = textOf(answer);
  if (text !== '') return `it said "${quoted(text)}"`;
  return `it said nothing and ended with "${quoted(collected.finish?.raw ?? collected.finish?.reason ?? 'nothing')}"`;
}

/** Words of a failure, with the upstream's status where it had one. */
export function wordsOfFailure({ upstream, message }: GatewayError): string {
  return `${upstream?.status === undefined ? '' : `${upstream.status}: `}${quoted(message)}`;
}

/** Foreign text on one line, without anything that could steer a terminal. */
export function quoted(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
}

/** True when it reasoned, shown or only counted. */
export function hasReasoned({ collected }: AskedAnswer): boolean {
  return (
    (collected.usage?.output.reasoning ?? 0) > 0 || collected.items.some((item) => item.type === 'reasoning')
  );
}
