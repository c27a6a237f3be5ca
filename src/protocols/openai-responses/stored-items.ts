// Items as the gateway keeps them between requests: in this protocol's own raw form, each with an id. Knows nothing of
// where they are kept.
import { responseShape } from './addresses.ts';
import { asArray, asString, isJsonArray, isJsonObject } from '../../base/json/index.ts';
import { Problems } from '../../canonical/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { Item } from '../../canonical/index.ts';
import type { StoredItems } from '../protocol.ts';
import { decodeInputItems } from './decode-conversation.ts';
import { prefixOf } from './encode-output-item.ts';
import { typeOf } from './hosted-facts.ts';
import { gateItem, withoutHiddenEnd } from './include-gates.ts';
import { madeId, withoutMadeId } from './made-ids.ts';
import { replayResponse } from './replay-stream.ts';

export const storedItems: StoredItems = {
  shape: responseShape,
  identify,
  asSaid: withoutMadeId,
  idPrefix: (facts) => prefixOf(typeOf(facts)),
  referenceOf,
  decode,
  show,
  showResponse,
  replay: replayResponse,
};

function identify(input: JsonValue | undefined, generationId: string): readonly JsonObject[] {
  let made = 0;
  const newId = (prefix: string): string => madeId(prefix, generationId, made++);
  if (input === undefined || input === null || input === '') return [];
  if (typeof input === 'string') return [userMessage(input, newId('msg_'))];
  if (!isJsonArray(input)) return [];
  return input.filter(isJsonObject).map((raw): JsonObject => {
    const type = asString(raw['type']) ?? 'message';
    return { ...raw, type, id: asString(raw['id']) || newId(prefixOf(type)) };
  });
}

/** A reference may be nothing but an id, which `identify` has given the type of a message. */
function referenceOf(item: JsonObject): string | undefined {
  const isBareId = Object.keys(item).every((name) => name === 'id' || name === 'type');
  return item['type'] === 'item_reference' || isBareId ? String(item['id']) : undefined;
}

function userMessage(text: string, id: string): JsonObject {
  return { id, type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text }] };
}

function decode(items: readonly JsonObject[], path: string): readonly Item[] {
  const problems = new Problems();
  const decoded = decodeInputItems(items, path, problems);
  problems.throwIfAny();
  return decoded;
}

/** Calls and their outputs have a status whenever the API gives them back, messages too (`ItemResource`, 2026-11). */
const WITH_STATUS = /^message$|_call$|_call_output$/;

function show(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const type = String(item['type']);
  const whole = {
    ...item,
    ...(WITH_STATUS.test(type) ? { status: item['status'] ?? 'completed' } : {}),
    ...(type === 'message' ? { content: partsOf(item) } : {}),
  };
  return gateItem(whole, include);
}

/** The content of a message as parts that say everything, where clients may say less. */
function partsOf({ role, content }: JsonObject): readonly JsonValue[] {
  if (typeof content === 'string')
    return [wholePart({ type: role === 'assistant' ? 'output_text' : 'input_text', text: content })];
  return asArray(content).map((part) => (isJsonObject(part) ? wholePart(part) : part));
}

function wholePart(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'output_text':
      return { ...part, annotations: part['annotations'] ?? [], logprobs: part['logprobs'] ?? [] };
    case 'input_image':
      return { ...part, detail: part['detail'] ?? 'auto' };
    default:
      return part;
  }
}

function showResponse(response: JsonObject, include: ReadonlySet<string>): JsonObject {
  const kept = asArray(response['output']);
  const output = withoutHiddenEnd(kept.filter(isJsonObject).map((item) => gateItem(item, include)));
  const isWhole = output.length === kept.length && output.every((item, place) => item === kept[place]);
  return isWhole && isJsonArray(response['output']) ? response : { ...response, output };
}
