// Removes item members that clients must request with `include`, and adds members that are always required. Pure
// functions over raw items, for new and for stored answers.
import { isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';

/** Paths of members by item type (OpenAI API reference, "Create a model response", `include`, 2026-11). */
const GATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['reasoning', ['encrypted_content']],
  ['web_search_call', ['action.sources', 'results']],
  ['file_search_call', ['results']],
  ['code_interpreter_call', ['outputs']],
  ['computer_call_output', ['output.image_url']],
]);

/**
 * Required members of hosted tool items, with their values if unknown or hidden (schemas `CodeInterpreterToolCall`,
 * `FileSearchToolCall`, `ImageGenToolCall`, `WebSearchToolCall` of OpenAI's API description, 2026-11).
 */
const DEMANDED: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['code_interpreter_call', { container_id: '', code: null, outputs: null }],
  ['file_search_call', { queries: [] }],
  ['image_generation_call', { result: null }],
  ['web_search_call', { action: { type: 'search' } }],
]);

/** Returns the item without members that `include` does not name, and with all required ones. */
export function gateItem(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const type = String(item['type']);
  if (type === 'message') return gateContent(item, include);
  let out = item;
  for (const gate of GATES.get(type) ?? [])
    if (!include.has(`${type}.${gate}`)) out = without(out, gate.split('.'));
  // The `added` event of a search has no action yet.
  const demanded =
    item['status'] === 'in_progress' && type === 'web_search_call' ? undefined : DEMANDED.get(type);
  for (const name in demanded) {
    const value = demanded[name] ?? null;
    if (!isPresent(out[name], value)) out = { ...out, [name]: value };
  }
  return out;
}

/** False for a missing value, and for an object without a type if one is required. */
function isPresent(value: JsonValue | undefined, demanded: JsonValue): boolean {
  if (!isJsonObject(demanded)) return value !== undefined;
  return isJsonObject(value) && typeof value['type'] === 'string';
}

/** Members that carry no content. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'status']);

/** True for a reasoning item without visible content. */
export function isSilent(item: JsonObject): boolean {
  if (item['type'] !== 'reasoning') return false;
  return Object.entries(item).every(
    ([name, value]) =>
      PLACE_MEMBERS.has(name) ||
      value === undefined ||
      value === null ||
      (Array.isArray(value) && value.length === 0),
  );
}

/**
 * Removes a silent item at the end of an output. Reasoning can follow the last text as its signature, but clients take
 * the last item for the answer.
 */
export function withoutSilentEnd(output: readonly JsonObject[]): readonly JsonObject[] {
  const last = output.at(-1);
  return last !== undefined && output.length > 1 && isSilent(last) ? output.slice(0, -1) : output;
}

/** Does the same for a stored answer, where encrypted content is hidden as well. */
export function withoutHiddenEnd(output: readonly JsonObject[]): readonly JsonObject[] {
  const last = output.at(-1);
  if (last === undefined || output.length < 2) return output;
  return isSilent({ ...last, encrypted_content: null }) ? output.slice(0, -1) : output;
}

/** Applies `include` to one content part of a message. The API requires a list of log probabilities, so it is emptied. */
export function gatePart(part: JsonObject, include: ReadonlySet<string>): JsonObject {
  switch (part['type']) {
    case 'output_text':
      return hasNone(part['logprobs']) || include.has('message.output_text.logprobs')
        ? part
        : { ...part, logprobs: [] };
    case 'input_image':
      return include.has('message.input_image.image_url') ? part : without(part, ['image_url']);
    default:
      return part;
  }
}

function hasNone(probabilities: JsonValue | undefined): boolean {
  return probabilities === undefined || (isJsonArray(probabilities) && probabilities.length === 0);
}

/** @returns the same message if nothing is hidden */
function gateContent(message: JsonObject, include: ReadonlySet<string>): JsonObject {
  const { content } = message;
  if (!isJsonArray(content)) return message;
  const shown = content.map((part) => (isJsonObject(part) ? gatePart(part, include) : part));
  return shown.every((part, place) => part === content[place]) ? message : { ...message, content: shown };
}

function without(object: JsonObject, [name = '', ...rest]: readonly string[]): JsonObject {
  const value = object[name];
  if (value === undefined) return object;
  const copy: MutableJsonObject = { ...object };
  if (rest.length === 0) delete copy[name];
  else if (isJsonObject(value)) copy[name] = without(value, rest);
  return copy;
}
