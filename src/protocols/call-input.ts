// The input of a tool call as the object that Anthropic and Google want, from the text that everybody else has. Knows
// no block or part.
import type { JsonObject, Report, ToolCallItem } from '../canonical/index.ts';
import { isJsonObject, parseJson } from '../canonical/index.ts';

/**
 * The input of a call of an earlier turn. Free-form input of a custom tool is its `input` member, as in the function
 * that stands for the tool. Arguments that are no JSON object are wrapped as `{"_raw": text}`, so that the model sees
 * what it wrote, which is reported.
 */
export function encodeCallInput(item: ToolCallItem, path: string, report: Report): JsonObject {
  if (item.kind === 'custom') return { input: item.arguments };
  const parsed = parseInput(item.arguments);
  if (parsed) return parsed;
  report.add(
    `${path}.arguments`,
    'approximated',
    'arguments that are no JSON object are sent as {"_raw": …}',
  );
  return { _raw: item.arguments };
}

/** The object in a call's arguments; nothing at all is an empty one. Undefined when they are no JSON object. */
export function parseInput(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  return isJsonObject(parsed) ? parsed : undefined;
}
