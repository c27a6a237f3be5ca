// Which members of items are shown only to a client that asks for them with `include`, and which are there whatever is
// known or shown: the one place that knows. Pure functions over raw items; used for answers as they are made and for
// what was kept.
import { isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';

/** Members by item type, below the item (OpenAI API reference, "Create a model response", `include`, 2026-11). */
const GATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['reasoning', ['encrypted_content']],
  ['web_search_call', ['action.sources', 'results']],
  ['file_search_call', ['results']],
  ['code_interpreter_call', ['outputs']],
  ['computer_call_output', ['output.image_url']],
]);

/**
 * Members that the API demands of items of hosted tools, and what they say where they are unknown or not shown (schemas
 * `CodeInterpreterToolCall`, `FileSearchToolCall`, `ImageGenToolCall`, `WebSearchToolCall` of OpenAI's description,
 * 2026-11).
 */
const DEMANDED: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['code_interpreter_call', { container_id: '', code: null, outputs: null }],
  ['file_search_call', { queries: [] }],
  ['image_generation_call', { result: null }],
  ['web_search_call', { action: { type: 'search' } }],
]);

/** The item without the members that `include` does not name, and with those that must be there. */
export function gateItem(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const type = String(item['type']);
  if (type === 'message') return gateContent(item, include);
  let out = item;
  for (const gate of GATES.get(type) ?? [])
    if (!include.has(`${type}.${gate}`)) out = without(out, gate.split('.'));
  // An announcement says what is known by then.
  const demanded =
    item['status'] === 'in_progress' && type === 'web_search_call' ? undefined : DEMANDED.get(type);
  for (const name in demanded) {
    const value = demanded[name] ?? null;
    if (!isSaid(out[name], value)) out = { ...out, [name]: value };
  }
  return out;
}

/** False for what is missing, and for an object that does not say what it is where that is demanded. */
function isSaid(value: JsonValue | undefined, demanded: JsonValue): boolean {
  if (!isJsonObject(demanded)) return value !== undefined;
  return isJsonObject(value) && typeof value['type'] === 'string';
}

/** Members that say nothing by themselves. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'status']);

/** True for an item of reasoning of which nothing is shown. */
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
 * An output that does not end with a silent item: what signs an answer may come behind its last word, and clients take
 * the last item for the answer.
 */
export function withoutSilentEnd(output: readonly JsonObject[]): readonly JsonObject[] {
  const last = output.at(-1);
  return last !== undefined && output.length > 1 && isSilent(last) ? output.slice(0, -1) : output;
}

/** The same for a client that is shown what was kept: what is encrypted says nothing to it either. */
export function withoutHiddenEnd(output: readonly JsonObject[]): readonly JsonObject[] {
  const last = output.at(-1);
  if (last === undefined || output.length < 2) return output;
  return isSilent({ ...last, encrypted_content: null }) ? output.slice(0, -1) : output;
}

/** The same for one content part of a message. The API demands a list of log probabilities, so that is emptied. */
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

/** @returns the message itself where nothing of it is hidden */
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
