// Reads a choice of a completion or chunk, as far as the relay lane records it.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { FinishEvent } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { decodeFinishReason } from './finish-reason.ts';

/** Returns how the choice ended; undefined if it has not ended. */
export function finishOf(choice: JsonObject): FinishEvent | undefined {
  const word = asString(choice['finish_reason']);
  return word === undefined ? undefined : { type: 'finish', reason: decodeFinishReason(word), raw: word };
}

/** Returns the number of characters in a delta or message: text, refusal, arguments in any form, audio. */
export function deltaChars(delta: JsonObject): number {
  let chars = charsOf(delta['content']) + charsOf(delta['refusal']) + charsOf(delta['audio'], 'data');
  chars += charsOf(delta['function_call'], 'arguments');
  for (const call of asArray(delta['tool_calls'])) {
    const { function: called, custom } = asObject(call);
    chars += charsOf(called, 'arguments') + charsOf(custom, 'input');
  }
  return chars;
}

/** Returns the length of a string, or of the string in a member; 0 for other values. */
function charsOf(value: JsonValue | undefined, member?: string): number {
  const text = member === undefined ? value : isJsonObject(value) ? value[member] : undefined;
  return typeof text === 'string' ? text.length : 0;
}

/** True if a delta or message contains more than its role. */
export function hasContent(delta: JsonObject): boolean {
  for (const key in delta) {
    const value = delta[key];
    if (key === 'role' || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      continue;
    return true;
  }
  return false;
}
