// Decodes the content blocks of a Converse answer into canonical events, whether whole or in deltas.
import { asArray, asObject, asString, isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import type { EventSink } from '../../../canonical/index.ts';
import { CallIds, callName } from '../../calls/call-ids.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { decodeCitation } from './citations.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeStopReason } from './finish-reason.ts';

type BlockKind = 'text' | 'reasoning' | 'tool_call' | 'raw';

interface Block {
  readonly kind: BlockKind;
  readonly item: number;
  /** Part of the message item, for text. */
  readonly part: number;
  /** UTF-16 length of the text or arguments so far. */
  chars: number;
  /** Signature or redacted reasoning so far. */
  opaque: string;
  isHidden: boolean;
  /** Citations of its text, which may follow the text. */
  citations: JsonObject[] | undefined;
}

export class AnswerEmitter {
  readonly #out: ItemWriter;
  readonly #ids: CallIds;
  readonly #blocks = new Map<number, Block>();
  #usage: JsonObject | undefined;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#ids = new CallIds(context, 'tooluse_');
  }

  /** True once there is a stop reason. */
  get stopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** True once the token counts were received, which Bedrock sends last. */
  get counted(): boolean {
    return this.#usage !== undefined;
  }

  /** Takes a whole block of an answer that is not streamed. */
  whole(index: number, block: JsonObject): void {
    const cited = block['citationsContent'];
    if (isJsonObject(block['toolUse'])) this.start(index, block);
    else if (isJsonObject(cited)) {
      const text = asArray(cited['content']).map((piece) => asString(asObject(piece)['text']) ?? '');
      this.delta(index, { text: text.join('') });
      for (const citation of asArray(cited['citations'])) this.delta(index, { citation });
    } else if (isJsonObject(block['reasoningContent']))
      this.#wholeReasoning(index, block['reasoningContent']);
    else if (typeof block['text'] === 'string') this.delta(index, block);
    else this.start(index, block);
    const input = asObject(block['toolUse'])['input'];
    if (input !== undefined) this.#arguments(index, JSON.stringify(input));
    this.stop(index);
  }

  /** Opens a block. Text and reasoning usually begin with their first delta instead. */
  start(index: number, start: JsonObject): void {
    this.stop(index);
    const call = start['toolUse'];
    // Tools that Bedrock itself runs (API reference `ToolUseBlock`, `type`) are not calls for the client.
    if (isJsonObject(call) && call['type'] !== 'server_tool_use') {
      const name = callName(call['name']);
      const callId = this.#ids.take(call['toolUseId']);
      const item = this.#out.open({ type: 'tool_call', kind: 'function', callId, name });
      this.#blocks.set(index, newBlock('tool_call', item));
      return;
    }
    const kind = Object.keys(start)[0];
    if (kind === undefined || kind === 'text' || kind === 'reasoningContent') return;
    const source = { protocol: 'bedrock-converse', raw: start } as const;
    const opened = isJsonObject(call)
      ? ({ type: 'hosted_call', kind: 'server_tool_use', id: asString(call['toolUseId']), source } as const)
      : ({ type: 'unknown', source } as const);
    this.#blocks.set(index, newBlock('raw', this.#out.open(opened)));
  }

  /** Takes one delta of a block. */
  delta(index: number, delta: JsonObject): void {
    if (typeof delta['text'] === 'string') return this.#text(index, delta['text']);
    if (isJsonObject(delta['toolUse']))
      return this.#arguments(index, asString(delta['toolUse']['input']) ?? '');
    if (isJsonObject(delta['reasoningContent'])) return this.#reasoning(index, delta['reasoningContent']);
    if (isJsonObject(delta['citation'])) {
      (this.#textBlock(index).citations ??= []).push(delta['citation']);
      return;
    }
    if (this.#blocks.get(index)?.kind !== 'raw')
      this.#out.on({ type: 'unknown', source: { protocol: 'bedrock-converse', raw: delta } });
  }

  /** Completes the block. */
  stop(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    // The message stays open, because the next block may be another part of it.
    if (block.kind === 'text') {
      this.#cite(block);
      return;
    }
    if (block.kind === 'reasoning' && block.opaque !== '') {
      const kind = block.isHidden ? 'encrypted' : 'signature';
      // Only the endpoint knows the model's format, but Claude's is the only one with signatures.
      const opaque = { format: 'anthropic-claude-v1', kind, data: block.opaque } as const;
      this.#out.opaque(block.item, opaque);
    }
    // A tool without arguments streams none, but clients parse them.
    if (block.kind === 'tool_call' && block.chars === 0) this.#out.arguments(block.item, '{}');
    this.#out.close(block.item);
  }

  /** Takes the stop reason, and the stop sequence if the model's own members name it. */
  stopBecause(reason: string, additional: JsonObject): void {
    this.#stopReason = reason;
    this.#stopSequence =
      asString(additional['stop_sequence']) ?? asString(asObject(additional['delta'])['stop_sequence']);
  }

  count(usage: JsonObject): void {
    this.#usage = usage;
  }

  /** Closes open items and emits the counts. */
  flush(): void {
    for (const index of this.#blocks.keys()) this.stop(index);
    this.#out.closeMessage();
    if (this.#usage) this.#out.on({ type: 'usage', usage: decodeUsage(this.#usage) });
  }

  /** Emits the end of a complete answer. */
  finish(): void {
    this.flush();
    const raw = this.#stopReason;
    const reason = raw === undefined ? 'unknown' : decodeStopReason(raw);
    this.#out.on({ type: 'finish', reason, raw, stopSequence: this.#stopSequence });
  }

  #wholeReasoning(index: number, content: JsonObject): void {
    const visible = asObject(content['reasoningText']);
    const { text, signature } = visible;
    if (typeof text === 'string') this.#reasoning(index, { text });
    if (typeof signature === 'string') this.#reasoning(index, { signature });
    if (content['redactedContent'] !== undefined) this.#reasoning(index, content);
  }

  #text(index: number, text: string): void {
    if (text === '') return;
    const block = this.#textBlock(index);
    block.chars += text.length;
    this.#out.text(block.item, block.part, text);
  }

  /** Returns the text block at an index; opens a new part of the message if there is none. */
  #textBlock(index: number): Block {
    const open = this.#blocks.get(index);
    // Text continues in a new message if another item has closed its old one.
    if (open?.kind === 'text' && this.#out.isMessage(open.item)) return open;
    this.stop(index);
    const block = newBlock('text', this.#out.message(), this.#out.nextPart());
    this.#blocks.set(index, block);
    return block;
  }

  #reasoning(index: number, content: JsonObject): void {
    let block = this.#blocks.get(index);
    if (block?.kind !== 'reasoning') {
      this.stop(index);
      block = newBlock('reasoning', this.#out.open({ type: 'reasoning' }));
      this.#blocks.set(index, block);
    }
    const { text, signature, redactedContent } = content;
    if (typeof text === 'string' && text !== '') this.#out.reasoning(block.item, text);
    if (typeof signature === 'string') block.opaque += signature;
    if (typeof redactedContent === 'string') {
      block.opaque += redactedContent;
      block.isHidden = true;
    }
  }

  #arguments(index: number, text: string): void {
    const block = this.#blocks.get(index);
    if (block?.kind !== 'tool_call' || text === '') return;
    block.chars += text.length;
    this.#out.arguments(block.item, text);
  }

  #cite({ citations = [], item, part, chars }: Block): void {
    for (const raw of citations) this.#out.annotate(item, part, decodeCitation(raw, 0, chars));
  }
}

function newBlock(kind: BlockKind, item: number, part = 0): Block {
  return { kind, item, part, chars: 0, opaque: '', isHidden: false, citations: undefined };
}
