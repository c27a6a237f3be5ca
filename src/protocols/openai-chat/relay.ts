// The relay lane of Chat Completions: patches `id` and `model`, reads a copy for the records, and leaves every
// other byte alone. Only for upstreams that follow OpenAI's own definition.
import type {
  CanonicalRequest,
  FinishEvent,
  GatewayError,
  JsonObject,
  JsonValue,
  Part,
  Usage,
} from '../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../canonical/index.ts';
import { brokenAnswer, cutAnswer, parseAnswer, unreadableFrame } from '../broken-answer.ts';
import { FrameSplitter, replaceData } from '../frame-splitter.ts';
import { editMembers, writtenLength } from '../json-splice.ts';
import type { RelayCodec, RelayFacts, RelayStream, RelayTap } from '../protocol.ts';
import { RelayOutput } from '../relay-output.ts';
import { MADE_ID } from './call-ids.ts';
import { decodeInlineError } from './decode-error.ts';
import { decodeUsage } from './decode-usage.ts';
import { MAX_TEMPERATURE } from './encode-request.ts';
import { WITHHELD_FIELDS } from './fields.ts';
import { decodeFinishReason } from './finish-reason.ts';

/**
 * Members that never reach an upstream: those that the gateway answers for itself, the old word for the limit, and
 * `metadata`, which is for the gateway's records (OpenAI refuses it unless answers are stored).
 */
const REMOVED: ReadonlySet<string> = new Set([...WITHHELD_FIELDS, 'max_tokens', 'metadata']);

const UNCOUNTED = ['usage'];
const NOT_FINISHED = '"finish_reason":null';
const DONE = 'data: [DONE]\n\n';
/** What OpenAI writes into every chunk before the last once token counts are asked for; inside a text it is escaped. */
const NOT_COUNTED = ',"usage":null';
const WRITTEN = ['"content":', '"arguments":'] as const;

export const relay: RelayCodec = {
  accepts,
  editRequest,
  patchResponse,
  openStream: (facts) => new ChatRelayStream(facts),
};

function accepts(request: CanonicalRequest): boolean {
  const { enabled, maxTokens, exclude, summary } = request.reasoning;
  if (enabled !== undefined || maxTokens !== undefined || exclude !== undefined || summary !== undefined)
    return false;
  if (request.tools.some((tool) => tool.cache)) return false;
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  // Reported as dropped, because they choose among nothing: the client's own words would still say them.
  if (request.tools.length === 0 && NEED_TOOLS.some((name) => (request.raw[name] ?? null) !== null))
    return false;
  // The flat form of allowed tools is accepted here, but OpenAI knows only the nested one.
  const choice = request.raw['tool_choice'];
  if (isJsonObject(choice) && choice['type'] === 'allowed_tools' && choice['allowed_tools'] === undefined)
    return false;
  if (choice === 'any' || (isJsonObject(choice) && choice['type'] === undefined)) return false;
  if (asArray(request.raw['messages']).some(hasExtensions)) return false;
  return request.items.every((item) => {
    // What its messages have no place for, and ids that only the gateway gave.
    if (item.type === 'unknown' || item.type === 'reasoning') return false;
    if (item.type === 'tool_call') return !item.callId.startsWith(MADE_ID);
    return !('parts' in item) || !item.parts.some(hasGatewayMeaning);
  });
}

/** Members that OpenAI refuses without tools. */
const NEED_TOOLS = ['tool_choice', 'parallel_tool_calls'] as const;

/** Members of a message that are ours and not OpenAI's: refused there even when they are empty. */
const EXTENSIONS = ['reasoning', 'reasoning_content', 'reasoning_details', 'cache_control'] as const;

function hasExtensions(message: JsonValue): boolean {
  return isJsonObject(message) && EXTENSIONS.some((name) => name in message);
}

/** True for a part that OpenAI would not take as it stands. */
function hasGatewayMeaning(part: Part): boolean {
  return part.cache !== undefined || (part.type === 'file' && part.media.kind !== 'base64');
}

function editRequest(body: string, request: CanonicalRequest, model: string): string {
  const set: Record<string, JsonValue> = {};
  if (request.raw['model'] !== model) set['model'] = model;
  const remove = Object.keys(request.raw).filter((key) => REMOVED.has(key));
  if ('max_tokens' in request.raw && request.maxOutputTokens !== undefined)
    set['max_completion_tokens'] = request.maxOutputTokens;
  // Token counts are always asked for: the ledger needs them. The stream withholds them from a client that did not.
  if (request.stream && request.streamUsage !== true)
    set['stream_options'] = { ...asObject(request.raw['stream_options']), include_usage: true };
  return editMembers(body, { set, remove });
}

function patchResponse(body: string, facts: RelayFacts): { body: string; tap: RelayTap } {
  const json = parseAnswer(body);
  if (!isJsonObject(json) || asArray(json['choices']).length === 0) {
    const failure = isJsonObject(json) ? decodeInlineError(json) : undefined;
    throw failure ?? brokenAnswer('the upstream answered 200 with something that is not a chat completion');
  }
  const choice = asObject(asArray(json['choices'])[0]);
  const tap: RelayTap = {
    upstreamId: asString(json['id']),
    usage: isJsonObject(json['usage']) ? decodeUsage(json['usage']) : undefined,
    finish: finishOf(choice),
    outputChars: deltaChars(asObject(choice['message'])),
    isEmpty: !asArray(json['choices']).some((each) => hasContent(asObject(asObject(each)['message']))),
  };
  return { body: editMembers(body, { set: { id: facts.id, model: facts.model } }), tap };
}

function finishOf(choice: JsonObject): FinishEvent | undefined {
  const word = asString(choice['finish_reason']);
  return word === undefined ? undefined : { type: 'finish', reason: decodeFinishReason(word), raw: word };
}

class ChatRelayStream implements RelayStream {
  readonly #facts: RelayFacts;
  readonly #frames = new FrameSplitter();
  readonly #out = new RelayOutput();
  /** The envelope that all frames of a stream begin with, and what it becomes. */
  #prefix = '';
  #patched = '';
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  errorShown = false;
  outputChars = 0;
  committed = false;
  isEmpty = false;
  done = false;

  constructor(facts: RelayFacts) {
    this.#facts = facts;
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#out.release(this.committed);
  }

  end(): string {
    const last = this.#frames.end();
    if (last !== '') this.#out.add(this.#inspect(last));
    // A finish reason ends an answer even where the sentinel was forgotten; without one it was cut.
    if (this.finish === undefined) this.error ??= cutAnswer();
    else this.committed ||= this.error === undefined;
    const out = this.#out.release(this.committed);
    return this.error ? out : `${out}${DONE}`;
  }

  /** Takes one frame. @returns false when nothing after it belongs to the answer: it ended or failed */
  readonly #take = (frame: string): boolean => {
    this.#out.add(this.#frame(frame));
    return !this.done && this.error === undefined;
  };

  /** One frame, patched; '' when it is withheld. */
  #frame(frame: string): string {
    const prefix = this.#prefix;
    if (!this.committed || prefix === '' || !frame.startsWith(prefix)) return this.#inspect(frame);
    const at = frame.indexOf(NOT_FINISHED, prefix.length);
    if (at < 0) return this.#inspect(frame);
    this.outputChars += writtenLength(frame, WRITTEN, prefix.length);
    const uncounted = this.#facts.showUsage ? -1 : frame.indexOf(NOT_COUNTED, at);
    return uncounted >= 0
      ? this.#patched + frame.slice(prefix.length, uncounted) + frame.slice(uncounted + NOT_COUNTED.length)
      : this.#patched + frame.slice(prefix.length);
  }

  /** The slow road: for frames that open, finish, count, fail, or are not known. */
  #inspect(arrived: string): string {
    const isPlain = arrived.startsWith('data:') && !/[\r\n]/.test(arrived.trimEnd());
    const frame = isPlain ? arrived : joinData(arrived);
    if (!frame.startsWith('data:')) return frame;
    const data = frame.slice(5).trim();
    if (data === '[DONE]') {
      this.done = true;
      this.committed ||= this.finish !== undefined;
      return '';
    }
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= unreadableFrame(data);
      return '';
    }
    if (json['error'] !== undefined && json['error'] !== null) {
      this.error ??= decodeInlineError(json) ?? brokenAnswer('the upstream reported an error');
      this.errorShown = this.committed;
      return this.committed ? replaceData(frame, data, this.#facts.redact(data)) : '';
    }
    this.upstreamId ??= asString(json['id']);
    if (isJsonObject(json['usage'])) this.usage = decodeUsage(json['usage']);
    const choices = asArray(json['choices']);
    if (choices.length === 0) {
      // A frame that is no chunk at all is nothing to patch; it passes like any unknown member.
      if (json['choices'] === undefined && json['usage'] === undefined) return arrived;
      if (!this.#facts.showUsage) return '';
    }
    const choice = asObject(choices[0]);
    const finish = finishOf(choice);
    if (finish) this.finish = finish;
    const delta = asObject(choice['delta']);
    if (hasContent(delta)) this.committed = true;
    // An answer that says nothing may yet be another endpoint's: it is held until it is over.
    if (finish) this.isEmpty = !this.committed;
    this.outputChars += deltaChars(delta);
    const patched = editMembers(frame, {
      set: { id: this.#facts.id, model: this.#facts.model },
      remove: json['usage'] === null && !this.#facts.showUsage ? UNCOUNTED : undefined,
    });
    if (this.#prefix === '') this.#learn(frame, patched);
    return patched;
  }

  #learn(frame: string, patched: string): void {
    const end = frame.indexOf('"choices":');
    const patchedEnd = patched.indexOf('"choices":');
    const envelope = frame.slice(0, end);
    if (end < 0 || !envelope.includes('"id":') || !envelope.includes('"model":')) return;
    this.#prefix = envelope;
    this.#patched = patched.slice(0, patchedEnd);
  }
}

/** A frame with one line of data from one with several lines of any kind; one without data stays as it is. */
function joinData(frame: string): string {
  const data = frame.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return data.length === 0 ? frame : `data: ${data.map((line) => line.slice(5).trim()).join(' ')}\n\n`;
}

/** Characters of what a delta or message says: text, a refusal, arguments in any of their forms, audio. */
function deltaChars(delta: JsonObject): number {
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

function hasContent(delta: JsonObject): boolean {
  for (const key in delta) {
    const value = delta[key];
    if (key === 'role' || value === null || value === '' || (Array.isArray(value) && value.length === 0))
      continue;
    return true;
  }
  return false;
}
