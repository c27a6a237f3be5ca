// Encodes items as `system` and alternating `messages` of Converse, following its rules for turns and block order.
import type { MutableJsonObject } from '../../../base/json/index.ts';
import type {
  Item,
  MessageItem,
  ReasoningItem,
  ToolCallItem,
  ToolResultItem,
} from '../../../canonical/index.ts';
import { unresolvedReference, TEXTS } from '../../../canonical/index.ts';
import { encodeCallInput } from '../../calls/call-input.ts';
import { ToolUseIds } from '../../calls/call-ids.ts';
import { DocumentNames, encodePart } from './encode-parts.ts';
import { addCachePoint } from './encode-scope.ts';
import type { EncodeScope } from './encode-scope.ts';

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: MutableJsonObject[];
}
export interface Conversation {
  readonly system: MutableJsonObject[];
  readonly turns: Turn[];
}

/** A message while it is built. Tool results come first, whatever the client's order. */
interface Draft {
  readonly role: Turn['role'];
  readonly results: MutableJsonObject[];
  readonly blocks: MutableJsonObject[];
}

/** Placeholder for text that Bedrock requires and the client did not send. */
const EMPTY_TEXT = '(empty)';
const OPENING_TEXT = TEXTS.assistantOpens;
/** Added to a document without text: a user message with documents requires a text (API reference `Message`). */
const DOCUMENT_TEXT = '(See the document.)';
/** Maximum length of `toolUseId` (API reference `ToolUseBlock`). */
const LONGEST_ID = 64;

/** Groups the items of a request into turns, keeping the order of reasoning, text and calls. */
export function encodeConversation(items: readonly Item[], scope: EncodeScope): Conversation {
  const writer = new TurnWriter(scope);
  items.forEach((item, position) => writer.add(item, item.path ?? `items[${position}]`));
  return writer.finish();
}

class TurnWriter {
  readonly #scope: EncodeScope;
  readonly #system: MutableJsonObject[] = [];
  readonly #drafts: Draft[] = [];
  readonly #ids: ToolUseIds;
  readonly #names = new DocumentNames();

  constructor(scope: EncodeScope) {
    this.#scope = scope;
    this.#ids = new ToolUseIds(scope.report, 'Bedrock', LONGEST_ID);
  }

  add(item: Item, path: string): void {
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
      default:
        this.#scope.report.add(path, 'dropped', `Bedrock does not support items of type ${item.type}`);
    }
  }

  finish(): Conversation {
    const { report, target } = this.#scope;
    const turns: Turn[] = [];
    for (const { role, results, blocks } of this.#drafts) {
      const content = [...results, ...blocks];
      const last = turns.at(-1);
      // An empty assistant message has no meaning. An empty user message makes it the assistant's turn.
      if (role === 'assistant' && content.length === 0) continue;
      if (last?.role === role) last.content.push(...content);
      else turns.push({ role, content });
    }
    for (const turn of turns) this.#complete(turn);
    if (turns[0]?.role === 'assistant' && !target.quirks.assistantFirst) {
      turns.unshift({ role: 'user', content: [{ text: OPENING_TEXT }] });
      report.add(
        'messages',
        'approximated',
        `Bedrock requires a user message first; "${OPENING_TEXT}" is added`,
      );
    }
    if (turns.length === 0) {
      const content = this.#system.length > 0 ? this.#system.splice(0) : [{ text: EMPTY_TEXT }];
      turns.push({ role: 'user', content });
      report.add(
        'messages',
        'approximated',
        'Bedrock requires a user message; the instructions are sent as one',
      );
    }
    return { system: this.#system, turns };
  }

  #complete({ role, content }: Turn): void {
    const { report } = this.#scope;
    if (content.length === 0) {
      content.push({ text: EMPTY_TEXT });
      report.add('messages', 'approximated', `Bedrock rejects empty messages; "${EMPTY_TEXT}" is sent`);
    }
    if (
      role === 'user' &&
      content.some((block) => 'document' in block) &&
      !content.some((block) => 'text' in block)
    ) {
      content.push({ text: DOCUMENT_TEXT });
      report.add(
        'messages',
        'approximated',
        `Bedrock requires a text with a document; "${DOCUMENT_TEXT}" is sent`,
      );
    }
  }

  #message(item: MessageItem, path: string): void {
    const { report } = this.#scope;
    if (item.name !== undefined)
      report.add(`${path}.name`, 'dropped', 'Bedrock does not support names on messages');
    const instructs = item.role === 'system' || item.role === 'developer';
    if (instructs && this.#drafts.length > 0) report.add(path, 'approximated', TEXTS.instructionsMoved);
    const blocks = instructs
      ? this.#system
      : this.#draft(item.role === 'assistant' ? 'assistant' : 'user').blocks;
    const before = blocks.length;
    item.parts.forEach((part, position) => {
      const partPath = part.path ?? `${path}.content[${position}]`;
      if (item.role !== 'user' && part.type !== 'text' && part.type !== 'refusal') {
        report.add(
          partPath,
          'dropped',
          `Bedrock does not support ${part.type} parts in messages of the role ${item.role}`,
        );
        return;
      }
      const block = encodePart(part, partPath, this.#names, this.#scope);
      if (block !== undefined) blocks.push(block);
      addCachePoint(block === undefined ? [] : blocks, part.cache, partPath, this.#scope);
    });
    addCachePoint(blocks.length > before ? blocks : [], item.cache, path, this.#scope);
  }

  /** Encodes reasoning, which is only sent to the family that signed it. */
  #reasoning(item: ReasoningItem, path: string): void {
    const { report, target } = this.#scope;
    const { opaque } = item;
    if (opaque === undefined || opaque.format !== target.reasoningFormat) {
      const what = opaque === undefined ? 'unsigned reasoning' : `reasoning of the format ${opaque.format}`;
      report.add(path, 'dropped', `this model cannot read ${what}`);
      return;
    }
    if (item.cache) report.add(`${path}.cache_control`, 'dropped', 'reasoning does not support cache points');
    const text = item.text.length > 0 ? item.text : item.summary;
    this.#draft('assistant').blocks.push({
      reasoningContent:
        opaque.kind === 'encrypted'
          ? { redactedContent: opaque.data }
          : { reasoningText: { text: text.join(''), signature: opaque.data } },
    });
  }

  #call(item: ToolCallItem, path: string): void {
    const { blocks } = this.#draft('assistant');
    blocks.push({
      toolUse: {
        toolUseId: this.#ids.call(item.callId, path),
        name: item.name,
        input: encodeCallInput(item, path, this.#scope.report),
      },
    });
    addCachePoint(blocks, item.cache, path, this.#scope);
  }

  #result(item: ToolResultItem, path: string): void {
    const { results, blocks } = this.#draft('user');
    if (blocks.length > 0) this.#scope.report.add(path, 'approximated', TEXTS.resultsMoved);
    const content: MutableJsonObject[] = [];
    let cache = item.cache;
    item.parts.forEach((part, position) => {
      const partPath = part.path ?? `${path}.content[${position}]`;
      const block = encodePart(part, partPath, this.#names, this.#scope);
      if (block !== undefined) content.push(block);
      cache = part.cache ?? cache;
    });
    if (content.length === 0) {
      content.push({ text: EMPTY_TEXT });
      this.#scope.report.add(path, 'approximated', `Bedrock requires a tool result; "${EMPTY_TEXT}" is sent`);
    }
    const toolUseId = this.#ids.result(item.callId, path);
    results.push({
      toolResult: { toolUseId, content, ...(item.isError === true ? { status: 'error' } : {}) },
    });
    addCachePoint(results, cache, path, this.#scope);
  }

  /** Returns the draft for the next block of a role. */
  #draft(role: Draft['role']): Draft {
    const last = this.#drafts.at(-1);
    if (last?.role === role) return last;
    const added: Draft = { role, results: [], blocks: [] };
    this.#drafts.push(added);
    return added;
  }
}
