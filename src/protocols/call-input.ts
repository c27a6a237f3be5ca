// The input of a tool call as the object that Anthropic and Google want, from the text that everybody else has. Knows
// no block or part.
import type { JsonObject } from '../base/json/index.ts';
import type { Report, ToolCallItem } from '../canonical/index.ts';
import { isJsonObject, parseJson } from '../base/json/index.ts';

/**
 * The input of a call of an earlier turn. Free-form input of a custom tool is its `input` member, as in the function
 * that stands for the tool. No arguments at all are an empty object. Arguments that are no JSON object are wrapped as `{"_raw": text}`, so that the model sees
 * what it wrote, which is reported.
 */
export function encodeCallInput(item: ToolCallItem, path: string, report: Report): JsonObject {
  return callInput(item, () =>
    report.add(
      `${path}.arguments`,
      'approximated',
      'arguments that are no JSON object are sent as {"_raw": …}',
    ),
  );
}

/**
 * The same for a call of an answer, where the client sees what the model wrote. A call that the output limit cut has no
 * input: Anthropic's clients would take half of one for the whole.
 * @param wrapped called when the arguments are no JSON object
 */
export function callInput(call: Pick<ToolCallItem, 'kind' | 'arguments'>, wrapped?: () => void): JsonObject {
  const text = call.arguments;
  if (call.kind === 'custom') return { input: text };
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  if (wrapped === undefined && isCutShort(text)) return {};
  wrapped?.();
  return { _raw: text };
}

/** True for the beginning of an object, without its end. */
function isCutShort(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (isInString && letter === '\\') at++;
    else if (letter === '"') isInString = !isInString;
    else if (!isInString && (letter === '{' || letter === '[')) depth++;
    else if (!isInString && (letter === '}' || letter === ']')) depth--;
  }
  return isInString || depth > 0;
}
