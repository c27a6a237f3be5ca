// The input of a tool call as the object that Anthropic and Google want, from the text that everybody else has. Knows
// no block or part.
import type { JsonObject, Report, ToolCallItem } from '../canonical/index.ts';
import { isJsonObject, parseJson } from '../canonical/index.ts';

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
 * The same for a call of an answer, where the client sees what the model wrote.
 * @param wrapped called when the arguments are no JSON object
 */
export function callInput(call: Pick<ToolCallItem, 'kind' | 'arguments'>, wrapped?: () => void): JsonObject {
  const text = call.arguments;
  if (call.kind === 'custom') return { input: text };
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  wrapped?.();
  return { _raw: text };
}
