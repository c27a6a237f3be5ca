// Reads a choice of a completion or of a chunk, as far as the relay lane keeps records of it.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { FinishEvent } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { decodeFinishReason } from './finish-reason.ts';

/** How it ended; undefined while it has not. */
export function finishOf(choice: JsonObject): FinishEvent | undefined {
  const word = asString(choice['finish_reason']);
  return word === undefined ? undefined : { type: 'finish', reason: decodeFinishReason(word), raw: word };
}

/** Characters of what a delta or message says: text, a refusal, arguments in any of their forms, audio. */
export function deltaChars(delta: JsonObject): number {
  let chars = charsOf(delta['content']) + charsOf(delta['refusal']) + charsOf(delta['audio'], 'data');
  chars += charsOf(delta['function_call'], 'arguments');
  for (const call of asArray(delta['tool_calls'])) {
    const { function: called, custom } = asObject(call);
    chars += charsOf(called, 'arguments') + charsOf(custom, 'input');
  }
  return chars;
}

/** Length of a text, or of the text that a member holds; 0 for anything else. */
function charsOf(value: JsonValue | undefined, member?: string): number {
  const text = member === undefined ? value : isJsonObject(value) ? value[member] : undefined;
  return typeof text === 'string' ? text.length : 0;
}

/** True where a delta or a message says more than whose it is. */
export function hasContent(delta: JsonObject): boolean {
  for (const key in delta) {
    const value = delta[key];
    if (key === 'role' || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      continue;
    return true;
  }
  return false;
}
