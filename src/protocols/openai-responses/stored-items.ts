// Converts items to and from their stored form: this protocol's own raw form, each with an id.
import { responseShape } from './addresses.ts';
import {
  asArray,
  asString,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../base/json/index.ts';
import { type CanonicalRequest, GatewayError, type Item, Problems, Report } from '../../canonical/index.ts';
import type { CodecContext, StoredItems } from '../protocol.ts';
import { decodeInputItems } from './requests/decode-conversation.ts';
import { prefixOf } from './answers/encode-output-item.ts';
import { typeOf } from './hosted-facts.ts';
import { gateItem, withoutHiddenEnd } from './answers/include-gates.ts';
import { madeId, withoutMadeId } from './requests/made-ids.ts';
import type { AnswerContext } from '../codec/server-codec.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { type Outcome, RESPONSE_PREFIX } from './answers/encode-response-object.ts';
import { encodeStream } from './answers/encode-stream.ts';

export const storedItems: StoredItems = {
  shape: responseShape,
  identify,
  withoutMadeId: withoutMadeId,
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

/** A reference can consist of only an id, to which `identify` has added the type of a message. */
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

/** The API always returns calls, outputs and messages with a status (`ItemResource`, 2026-11). */
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

/** Returns the content of a message as parts with all members, some of which clients may omit. */
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

// Replay of a stored answer as a stream. The stream encoder writes the events; only the response object inside them is
// the stored one.

/**
 * Returns the frames of the whole stream, in order: their index is their sequence number.
 * @param response the stored answer, without members that `include` does not request
 */
function replayResponse(
  response: JsonObject,
  include: ReadonlySet<string>,
  context: CodecContext,
  words: Pick<AnswerContext, 'readsOpenWords'> = {},
): readonly string[] {
  let text = '';
  const sink = encodeStream(
    (frames) => (text += frames),
    {
      id: String(response['id']).slice(RESPONSE_PREFIX.length),
      createdSeconds: Number(response['created_at']),
      model: String(response['model']),
      request: replayedRequest(include),
      reasoningContentMirror: false,
      ...words,
    },
    (_, outcome, output) => envelope(response, outcome, output),
  );
  try {
    decodeResponse(response, sink, context);
  } catch (error) {
    // A failed answer is replayed with its error.
    sink.on({ type: 'error', error: GatewayError.from(error) });
  }
  return text.split(/(?<=\n\n)/);
}

function envelope(kept: JsonObject, { status }: Outcome, output: readonly JsonObject[]): JsonObject {
  if (status !== 'in_progress') return { ...kept, output };
  const begun = { status, output, completed_at: null, error: null, incomplete_details: null, usage: null };
  return { ...kept, ...begun };
}

/** Creates the request that the encoder reads for everything except the echoed members. */
function replayedRequest(include: ReadonlySet<string>): CanonicalRequest {
  return {
    protocol: 'openai-responses',
    raw: {},
    model: '',
    items: [],
    tools: [],
    reasoning: {},
    stream: true,
    gateway: {},
    logprobs: include.has('message.output_text.logprobs'),
    state: { store: true, truncation: 'disabled', include, background: false },
    extra: {},
    report: new Report(),
  };
}
