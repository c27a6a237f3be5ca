// Reads probe answers: text, tool calls, refusals.
import type { ErrorKind, GatewayError, ToolCallItem } from '../../canonical/index.ts';
import type { AskedAnswer } from '../../engine/index.ts';

/** Maximum characters of a quoted upstream message. */
const MOST_WORDS = 200;

/** Visible text. */
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
 * True if the upstream rejects the request itself, and thus the feature under test. An exhausted account, a content
 * filter, or an invalid tool call by the model may have the same status, and are excluded.
 */
export function isRefused({ failure }: AskedAnswer): boolean {
  return failure !== null && failure.fault === 'client' && REFUSALS.has(failure.kind);
}

/** True if the answer proves nothing: overload, failure, timeout, or an end before any content. */
export function isUnclear(answer: AskedAnswer): boolean {
  if (answer.failure) return !isRefused(answer);
  return textOf(answer) === '' && callsOf(answer).length === 0;
}

/** Reason why there is no answer, in the upstream's words; or that it is empty. */
export function wordsOf(answer: AskedAnswer): string {
  const { failure, collected } = answer;
  if (failure) return wordsOfFailure(failure);
  const text = textOf(answer);
  if (text !== '') return `responded "${quoted(text)}"`;
  return `empty response with finish reason "${quoted(collected.finish?.raw ?? collected.finish?.reason ?? 'none')}"`;
}

/** Detail of a probe that the upstream rejected. */
export function rejectedWith(answer: AskedAnswer): string {
  return `rejected: ${wordsOf(answer)}`;
}

/** Message of a failure, with the upstream's status if any. */
export function wordsOfFailure({ upstream, message }: GatewayError): string {
  return `${upstream?.status === undefined ? '' : `${upstream.status}: `}${quoted(message)}`;
}

/** Upstream text on one line, without control characters. */
export function quoted(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
}

/** True if the model reasoned, visibly or according to its token counts. */
export function hasReasoned({ collected }: AskedAnswer): boolean {
  return (
    (collected.usage?.output.reasoning ?? 0) > 0 || collected.items.some((item) => item.type === 'reasoning')
  );
}
