// Converts the input of a tool call from text, the canonical form, to the object that Anthropic and Google require.
import type { JsonObject } from '../../base/json/index.ts';
import type { Report, ToolCallItem } from '../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../base/json/index.ts';
import { ArgumentsProgress } from './arguments-progress.ts';

/**
 * Returns the input of a call of an earlier turn. Free-form input of a custom tool becomes the `input` member, as in
 * the function that replaces the tool. Missing arguments become an empty object. Arguments that are not a JSON object
 * become `{"_raw": text}`, with a report, so that the model still sees what it wrote.
 */
export function encodeCallInput(item: ToolCallItem, path: string, report: Report): JsonObject {
  return callInput(item, () =>
    report.add(
      `${path}.arguments`,
      'approximated',
      'the arguments are not a JSON object and are sent as {"_raw": …}',
    ),
  );
}

/**
 * Returns the input of a call in an answer, for the client. A call that was cut by the output limit gets no input,
 * because Anthropic's clients would treat the partial input as complete.
 * @param wrapped called if the arguments are not a JSON object
 */
export function callInput(call: Pick<ToolCallItem, 'kind' | 'arguments'>, wrapped?: () => void): JsonObject {
  const text = call.arguments;
  if (call.kind === 'custom') return { input: text };
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  if (wrapped === undefined && new ArgumentsProgress().take(text).isCutShort) return {};
  wrapped?.();
  return { _raw: text };
}
