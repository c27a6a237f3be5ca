// Encodes items as `systemInstruction` and `contents`, following Gemini's rules for turns and signatures.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type {
  Item,
  MessageItem,
  ReasoningItem,
  Target,
  ToolCallItem,
  ToolResultItem,
} from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { unresolvedReference } from '../../../canonical/index.ts';
import { CallsById } from '../../calls/call-ids.ts';
import { encodeCallInput } from '../../calls/call-input.ts';
import { PARAGRAPH } from '../../content/paragraphs.ts';
import { encodePart } from './encode-parts.ts';
import type { EncodeScope } from './encode-scope.ts';
import { dropCache, isLevelGeneration, ownRaw } from './encode-scope.ts';
import { FOREIGN_CALL_SIGNATURE, GEMINI_REASONING } from '../thought-signature.ts';

export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: MutableJsonObject[];
}
export interface Conversation {
  /** Parts of the system instruction; empty if there is none. */
  readonly system: MutableJsonObject[];
  readonly contents: Content[];
}

/** Groups the items of a request into contents, keeping the order of thoughts, text and calls. */
export function encodeConversation(items: readonly Item[], scope: EncodeScope): Conversation {
  const writer = new ContentsWriter(scope);
  items.forEach((item, position) => {
    if (item.type === 'reasoning')
      writer.expect(leadsToCall(items, position), isSignedLater(items, position, scope.target));
    writer.add(item, item.path ?? `items[${position}]`);
  });
  return writer.finish();
}

/** True if a call follows in the same turn before other reasoning. Text may come between. */
function leadsToCall(items: readonly Item[], position: number): boolean {
  for (let at = position + 1; at < items.length; at++) {
    const item = items[at];
    if (item?.type === 'tool_call') return true;
    if (item?.type !== 'message' || item.role !== 'assistant') return false;
  }
  return false;
}

/** True for reasoning whose answer is signed at its end, as models do in streams. */
function isSignedLater(
  items: readonly Item[],
  position: number,
  { reasoningFormat }: Pick<Target, 'reasoningFormat'>,
): boolean {
  for (let at = position + 1; at < items.length; at++) {
    const item = items[at];
    if (item?.type === 'reasoning') return item.opaque?.format === reasoningFormat;
    if (item?.type !== 'message' || item.role !== 'assistant') return false;
  }
  return false;
}

class ContentsWriter {
  readonly #scope: EncodeScope;
  readonly #system: MutableJsonObject[] = [];
  readonly #contents: Content[] = [];
  /** Names of the calls so far by id, because a result must name its function. */
  readonly #names = new CallsById<string>();
  /** Signature for a following part. */
  #signature: string | undefined;
  /** True: the signature belongs to the next call, whatever comes between. */
  #isCalls = false;
  #expectsCall = false;
  #isSigned = false;

  constructor(scope: EncodeScope) {
    this.#scope = scope;
  }

  /** Sets, for the next reasoning item, whether it leads to a call and whether its answer is signed. */
  expect(call: boolean, signed: boolean): void {
    this.#expectsCall = call;
    this.#isSigned = signed;
  }

  add(item: Item, path: string): void {
    dropCache(item.cache, path, this.#scope.report);
    switch (item.type) {
      case 'message':
        this.#message(item, path);
        return;
      case 'reasoning':
        this.#reasoning(item, path);
        return;
      case 'tool_call':
        this.#call(item, path);
        return;
      case 'tool_result':
        this.#result(item, path);
        return;
      case 'reference':
        throw unresolvedReference(item);
      default: {
        const raw = ownRaw(item.source);
        if (raw === undefined) {
          this.#scope.report.add(path, 'dropped', `Gemini does not support items of type ${item.type}`);
          return;
        }
        // Such a part contains its own signature.
        this.#flushSignature();
        this.#parts('model').push(raw);
      }
    }
  }

  finish(): Conversation {
    this.#flushSignature();
    const { report } = this.#scope;
    const contents = this.#contents.filter(({ parts }) => parts.length > 0);
    if (contents.length === 0) {
      const parts = this.#system.length > 0 ? this.#system.splice(0) : [{ text: '' }];
      contents.push({ role: 'user', parts });
      report.add('messages', 'approximated', 'Gemini requires a message; the instructions are sent as one');
    } else if (contents[0]?.role === 'model') {
      // An empty text is accepted there (recorded 2026-05).
      contents.unshift({ role: 'user', parts: [{ text: '' }] });
      report.add('messages', 'approximated', 'Gemini requires a user message first; an empty text is added');
    }
    if (isLevelGeneration(this.#scope.target)) this.#signForeignCalls(contents);
    return { system: this.#system, contents };
  }

  #message(item: MessageItem, path: string): void {
    const { report } = this.#scope;
    if (item.name !== undefined)
      report.add(`${path}.name`, 'dropped', 'Gemini does not support names on messages');
    const instructs = item.role === 'system' || item.role === 'developer';
    if (instructs && this.#contents.length > 0)
      report.add(path, 'approximated', 'later instructions were appended to the system instruction');
    const isAnswer = item.role === 'assistant';
    const parts = instructs ? this.#system : this.#parts(isAnswer ? 'model' : 'user');
    const before = parts.length;
    item.parts.forEach((part, position) => {
      const partPath = part.path ?? `${path}.content[${position}]`;
      if (instructs && part.type !== 'text') {
        report.add(partPath, 'dropped', 'Gemini supports only text as instructions');
        return;
      }
      const encoded = encodePart(part, partPath, this.#scope);
      if (encoded !== undefined) parts.push(isAnswer && !this.#isCalls ? this.#signed(encoded) : encoded);
    });
    // An empty user turn makes it the model's turn. Without parts it would be refused.
    if (parts.length === before && item.role === 'user') parts.push({ text: '' });
  }

  /**
   * Encodes reasoning. Hidden state is only sent to its own family, unchanged: on the thought that it signs, otherwise
   * on the following part, otherwise on a separate part.
   */
  #reasoning(item: ReasoningItem, path: string): void {
    const { report, target } = this.#scope;
    const { opaque, source } = item;
    const format = opaque?.format ?? item.format;
    // Gemini may read reasoning of unknown family from a Gemini client, and answers that it signed itself.
    const isReadable =
      format === undefined
        ? source?.protocol === 'gemini' || this.#isSigned
        : format === target.reasoningFormat;
    if (!isReadable) {
      const what = format === undefined ? 'of an unknown model' : `of the format ${format}`;
      report.add(path, 'dropped', `this model cannot read reasoning ${what}`);
      return;
    }
    const text = item.summary.length > 0 ? item.summary.join(PARAGRAPH) : item.text.join('');
    const signsText = opaque?.kind === 'signature' && text !== '';
    if (text !== '') {
      const signature = signsText ? { thoughtSignature: opaque.data } : {};
      this.#flushSignature();
      this.#parts('model').push({ text, thought: true, ...signature });
    }
    if (opaque === undefined || signsText) return;
    this.#flushSignature();
    const standsAlone = source?.protocol === 'gemini' && source.raw['text'] === '';
    if (standsAlone) this.#parts('model').push({ text: '', thoughtSignature: opaque.data });
    else {
      this.#signature = opaque.data;
      // Since Gemini 3, the first call is always signed, and no other part of its turn must be.
      this.#isCalls = this.#expectsCall && (opaque.standsOn === 'call' || isLevelGeneration(target));
    }
  }

  #call(item: ToolCallItem, path: string): void {
    this.#names.call(item.callId, item.name);
    const part: MutableJsonObject = ownRaw(item.source) ?? {
      functionCall: {
        id: item.callId,
        name: item.name,
        args: encodeCallInput(item, path, this.#scope.report),
      },
    };
    this.#parts('model').push(this.#signed(part));
  }

  #result(item: ToolResultItem, path: string): void {
    const parts = this.#parts('user');
    const called = this.#names.result(item.callId);
    const raw = ownRaw(item.source);
    if (raw) {
      parts.push(raw);
      return;
    }
    const name = item.name ?? called;
    if (name === undefined)
      this.#scope.report.add(
        path,
        'approximated',
        'Gemini requires the name of the function; its call id is sent',
      );
    const response: MutableJsonObject = { id: item.callId, name: name ?? item.callId };
    parts.push({ functionResponse: response });
    const texts: string[] = [];
    const media: MutableJsonObject[] = [];
    item.parts.forEach((part, position) => {
      const partPath = part.path ?? `${path}.content[${position}]`;
      const encoded = encodePart(part, partPath, this.#scope);
      if (part.type === 'text') texts.push(part.text);
      else if (encoded !== undefined) media.push(encoded);
    });
    response['response'] = resultObject(texts, item.isError === true, media.length > 0);
    if (media.length === 0) return;
    if (isLevelGeneration(this.#scope.target)) {
      response['parts'] = media;
      return;
    }
    for (const part of media) parts.push(part);
    this.#scope.report.add(path, 'approximated', 'files in a tool result are sent next to it');
  }

  /** Returns the parts of the content for the next part of a role: the last one, or a new one if that has another role. */
  #parts(role: Content['role']): MutableJsonObject[] {
    const last = this.#contents.at(-1);
    if (last?.role === role) return last.parts;
    if (role === 'user') this.#flushSignature();
    const added: Content = { role, parts: [] };
    this.#contents.push(added);
    return added.parts;
  }

  #signed(part: MutableJsonObject): MutableJsonObject {
    if (this.#signature === undefined) return part;
    const signed = { ...part, thoughtSignature: this.#signature };
    this.#signature = undefined;
    this.#isCalls = false;
    return signed;
  }

  /** Writes a remaining signature on an empty text, as Gemini itself ends its streams. */
  #flushSignature(): void {
    const thoughtSignature = this.#signature;
    if (thoughtSignature === undefined) return;
    this.#signature = undefined;
    this.#isCalls = false;
    this.#parts('model').push({ text: '', thoughtSignature });
  }

  /**
   * Adds missing signatures: in the current turn, the first call of every step must be signed (documentation "Thought
   * signatures", 2026-11).
   */
  #signForeignCalls(contents: readonly Content[]): void {
    const { report, target } = this.#scope;
    if (target.reasoningFormat !== GEMINI_REASONING) return;
    const start = contents.findLastIndex(
      ({ role, parts }) => role === 'user' && parts.some((part) => !('functionResponse' in part)),
    );
    for (const { role, parts } of contents.slice(start + 1)) {
      const first = role === 'model' ? parts.find((part) => 'functionCall' in part) : undefined;
      if (first === undefined || first['thoughtSignature'] !== undefined) continue;
      first['thoughtSignature'] = FOREIGN_CALL_SIGNATURE;
      report.add('messages', 'approximated', "calls without Gemini's signature are marked as foreign");
    }
  }
}

/** Returns a result as an object. Google's names for other values are `output` and `error` (API reference, 2026-11). */
function resultObject(texts: readonly string[], isError: boolean, hasMedia: boolean): JsonObject {
  const text = texts.join('\n');
  if (isError) return { error: text };
  if (text === '' && hasMedia) return {};
  const parsed = texts.length === 1 ? parseJson(text) : undefined;
  return isJsonObject(parsed) ? parsed : { output: text };
}
