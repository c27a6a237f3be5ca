// Decodes the content blocks of a Messages answer into canonical events, whether whole or in deltas.
import { asArray, asObject, asString, isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import type { CloseEvent, EventSink, HostedFacts, Source } from '../../../canonical/index.ts';
import { CallIds, callName } from '../../calls/call-ids.ts';
import { AnswerRest } from '../../members/answer-rest.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { isHosted } from '../block-kinds.ts';
import { decodeCitation } from '../citations.ts';
import { messagesSource } from '../requests/decode-scope.ts';
import { isFailedWork, readFacts } from '../hosted-blocks.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import {
  type Block,
  blockKind,
  finalRaw,
  newBlock,
  patchBlock,
  toolSource,
  UNOPENED,
  withoutContent,
} from './answered-block.ts';
import { decodeUsage, mergeUsage } from './decode-usage.ts';
import { CLAUDE_REASONING } from '../foreign-reasoning.ts';
import { decodeStopReason } from './finish-reason.ts';

/** Maximum frames that a block without content keeps. */
const MOST_EARLY = 64;

export class AnswerEmitter {
  readonly #out: ItemWriter;
  readonly #ids: CallIds;
  readonly #blocks = new Map<number, Block>();
  /** Close event of a search call, held back for the next block with its results: other protocols report both together. */
  #search: (CloseEvent & { readonly source: Source; readonly facts: HostedFacts }) | undefined;
  readonly #rest = new AnswerRest(ANSWER_MEMBERS);
  #usage: JsonObject | undefined;
  #usageIsNew = false;
  #stopReason: string | undefined;
  #stopSequence: string | undefined;
  #refusal = '';
  #refusalCategory: string | undefined;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#ids = new CallIds(context, 'toolu_');
  }

  /** True once there is a stop reason. */
  get stopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Takes the envelope of the answer, without content and stop reason. */
  start(message: JsonObject): void {
    this.#out.on({ type: 'start', id: asString(message['id']), model: asString(message['model']) });
    this.#rest.take(message);
    this.#mergeUsage(message['usage']);
  }

  /** Opens the block at an index of the upstream, with the content that it already has. */
  openBlock(index: number, raw: JsonObject): void {
    this.closeBlock(index);
    if (this.#search !== undefined) this.#closeSearch(raw);
    const type = asString(raw['type']);
    // A block without a type begins with its first delta, as if its start were missing.
    if (type === undefined) return this.#out.on({ type: 'unknown', source: messagesSource(raw) });
    const block = newBlock(blockKind(type), raw);
    this.#blocks.set(index, block);
    switch (block.kind) {
      case 'text':
        for (const citation of asArray(raw['citations'])) this.#cite(block, citation);
        this.#text(block, asString(raw['text']) ?? '');
        return;
      case 'thinking':
        block.signature = asString(raw[type === 'redacted_thinking' ? 'data' : 'signature']) ?? '';
        this.#thinking(block, asString(raw['thinking']) ?? '');
        return;
      case 'tool_use': {
        const name = callName(raw['name']);
        const callId = this.#ids.take(raw['id']);
        const source = toolSource(block);
        block.item = this.#out.open({ type: 'tool_call', kind: 'function', callId, name, source });
        return;
      }
      case 'raw': {
        const source = messagesSource(raw);
        const id = asString(raw['id']);
        block.item = this.#out.open(
          isHosted(type)
            ? { type: 'hosted_call', kind: type, id, facts: readFacts(raw), source }
            : { type: 'unknown', source },
        );
      }
    }
  }

  /** Takes one delta of a block. @param frame the whole frame, passed on if the block does not know the delta's type */
  delta(index: number, delta: JsonObject, frame: JsonObject): void {
    const type = delta['type'];
    const block = this.#blocks.get(index) ?? this.#lateBlock(index, type);
    if (block === undefined) return this.#out.on({ type: 'unknown', source: messagesSource(frame) });
    const held = this.#content(block, type, delta);
    if (held === undefined || held === null) {
      if (block.kind === 'raw') patchBlock(block, delta);
      // A damaged delta, or a known one in the wrong block, has no meaning for a client.
      else if (held === undefined && typeof type === 'string' && type !== '') this.#extra(block, frame);
      return;
    }
    for (const name in delta)
      if (name !== 'type' && name !== held && delta[name] !== null)
        return this.#extra(block, withoutContent(frame, delta, held));
  }

  /** Takes an undocumented frame. @param index of the block that it concerns, if it names one */
  other(index: number | undefined, frame: JsonObject): void {
    const block = index === undefined ? undefined : this.#blocks.get(index);
    if (block) this.#extra(block, frame);
    else this.#out.on({ type: 'unknown', source: messagesSource(frame) });
  }

  /**
   * Takes the content of a delta.
   * @returns the member that holds it; null for a known type in a block of another kind; undefined for an unknown type
   */
  #content(block: Block, type: unknown, delta: JsonObject): string | null | undefined {
    const { kind } = block;
    switch (type) {
      case 'text_delta':
        if (kind !== 'text') return null;
        this.#text(block, asString(delta['text']) ?? '');
        return 'text';
      case 'input_json_delta':
        if (kind !== 'tool_use' && kind !== 'raw') return null;
        this.#json(block, asString(delta['partial_json']) ?? '');
        return 'partial_json';
      case 'thinking_delta':
        if (kind !== 'thinking') return null;
        this.#thinking(block, asString(delta['thinking']) ?? '');
        return 'thinking';
      case 'signature_delta':
        if (kind !== 'thinking') return null;
        block.signature = asString(delta['signature']) ?? block.signature;
        return 'signature';
      case 'citations_delta':
        if (kind !== 'text') return null;
        this.#cite(block, delta['citation']);
        return 'citation';
      default:
        return undefined;
    }
  }

  /** True while a text block is open at this index. */
  isText(index: number): boolean {
    return this.#blocks.get(index)?.kind === 'text';
  }

  /** Takes more text of an open block. */
  text(index: number, text: string): void {
    const block = this.#blocks.get(index);
    if (block) this.#text(block, text);
  }

  /** Completes a block, if it is open. */
  closeBlock(index: number): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    switch (block.kind) {
      case 'text':
        if (block.citations) this.#annotate(block, block.citations);
        return;
      case 'thinking':
        this.#closeThinking(block);
        return;
      case 'tool_use':
        // A tool without arguments streams none. Its input is then in the block itself, or empty.
        if (block.json === '') {
          const input = block.raw['input'];
          const text = isJsonObject(input) ? JSON.stringify(input) : '{}';
          this.#out.arguments(block.item, text);
        }
        this.#out.close(block.item, toolSource(block));
        return;
      case 'raw': {
        const raw = finalRaw(block);
        const [source, facts] = [messagesSource(raw), readFacts(raw)];
        const close = { type: 'close', index: block.item, source } as const;
        if (raw['type'] === 'server_tool_use' && facts) this.#search = { ...close, facts };
        else this.#out.on({ ...close, facts });
      }
    }
  }

  /** Takes `message_delta`, the end of a stream. */
  end(frame: JsonObject): void {
    const delta = asObject(frame['delta']);
    // A whole answer has the container beside all others.
    this.#rest.take({ ...frame, container: delta['container'] }, delta);
    this.stop({ ...frame, ...delta, usage: frame['usage'] });
  }

  /** Takes the end of an answer: `stop_reason`, `stop_sequence`, `stop_details` and `usage`. */
  stop(envelope: JsonObject): void {
    this.#stopReason = asString(envelope['stop_reason']) ?? this.#stopReason;
    this.#stopSequence = asString(envelope['stop_sequence']) ?? this.#stopSequence;
    const details = asObject(envelope['stop_details']);
    this.#refusal = asString(details['explanation']) ?? this.#refusal;
    this.#refusalCategory = asString(details['category']) ?? this.#refusalCategory;
    this.#mergeUsage(envelope['usage']);
  }

  /** Emits the token counts if they have changed since the last time. */
  flushUsage(): void {
    if (!this.#usageIsNew || this.#usage === undefined) return;
    this.#usageIsNew = false;
    this.#out.on({ type: 'usage', usage: decodeUsage(this.#usage) });
  }

  /** Closes all open blocks and emits usage and finish. */
  finish(): void {
    for (const index of this.#blocks.keys()) this.closeBlock(index);
    this.#closeSearch({});
    const raw = this.#stopReason;
    const reason = decodeStopReason(raw);
    if (reason === 'refusal' && this.#refusal !== '') {
      const message = this.#out.message();
      this.#out.text(message, this.#out.nextPart(), this.#refusal, 'refusal');
    }
    this.#out.closeMessage();
    this.flushUsage();
    // A new reason may stand for an incomplete answer, so clients of this protocol receive the vendor's own word.
    if (reason === 'unknown' && raw !== undefined) this.#rest.keep({ stop_reason: raw });
    this.#out.on({
      type: 'finish',
      reason,
      raw,
      stopSequence: this.#stopSequence,
      refusalCategory: this.#refusalCategory,
      source: this.#rest.source,
    });
  }

  /** Emits the held-back close event of a search. @param next the block that follows it */
  #closeSearch(next: JsonObject): void {
    const close = this.#search;
    if (close === undefined) return;
    this.#search = undefined;
    if (next['tool_use_id'] !== close.source.raw['id']) return this.#out.on(close);
    const isError = isFailedWork(next) ? { isError: true } : {};
    this.#out.on({ ...close, facts: { ...readFacts(next), ...close.facts, ...isError } });
  }

  /** Opens a block whose start is missing: compatible servers omit it for text and thinking. */
  #lateBlock(index: number, deltaType: unknown): Block | undefined {
    if (deltaType !== 'text_delta' && deltaType !== 'thinking_delta') return undefined;
    const block = newBlock(deltaType === 'text_delta' ? 'text' : 'thinking', {});
    this.#blocks.set(index, block);
    return block;
  }

  #text(block: Block, text: string): void {
    if (text === '') return;
    if (!this.#out.isMessage(block.item)) this.#openPart(block);
    block.chars += text.length;
    this.#out.text(block.item, block.part, text);
  }

  #thinking(block: Block, text: string): void {
    if (text === '') return;
    if (block.item === UNOPENED) this.#openReasoning(block);
    this.#out.reasoning(block.item, text);
  }

  /** A signature alone is content: it must return to the model even if no text was shown. */
  #closeThinking(block: Block): void {
    if (block.signature !== '') {
      if (block.item === UNOPENED) this.#openReasoning(block);
      const kind = block.raw['type'] === 'redacted_thinking' ? 'encrypted' : 'signature';
      this.#out.opaque(block.item, { format: CLAUDE_REASONING, kind, data: block.signature });
    }
    if (block.item !== UNOPENED) this.#out.close(block.item);
  }

  #json(block: Block, text: string): void {
    if (text === '') return;
    block.json += text;
    if (block.kind === 'tool_use') this.#out.arguments(block.item, text);
  }

  #cite(block: Block, citation: unknown): void {
    if (isJsonObject(citation)) (block.citations ??= []).push(citation);
  }

  /** Emits citations at the end of a block, because they refer to its whole text. */
  #annotate(block: Block, citations: readonly JsonObject[]): void {
    if (block.item === UNOPENED) this.#openPart(block);
    for (const citation of citations)
      this.#out.annotate(block.item, block.part, decodeCitation(citation, block.chars));
  }

  #openReasoning(block: Block): void {
    block.item = this.#out.open({ type: 'reasoning', format: CLAUDE_REASONING });
    this.#releaseEarly(block);
  }

  #openPart(block: Block): void {
    block.item = this.#out.message();
    block.part = this.#out.nextPart();
    block.chars = 0;
    this.#releaseEarly(block);
  }

  /** Emits a frame for clients of this protocol, or holds it until the block has content: an empty one is never shown. */
  #extra(block: Block, frame: JsonObject): void {
    // Hidden thinking has no deltas.
    if (block.raw['type'] === 'redacted_thinking') return;
    const source = messagesSource(frame);
    if (block.item !== UNOPENED) this.#out.extra(block.item, block.part, source);
    else if (block.early.length < MOST_EARLY) block.early.push(frame);
    else this.#out.on({ type: 'unknown', source });
  }

  #releaseEarly(block: Block): void {
    const { early } = block;
    block.early = [];
    for (const frame of early) this.#extra(block, frame);
  }

  #mergeUsage(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    this.#usage = this.#usage === undefined ? usage : mergeUsage(this.#usage, usage);
    this.#usageIsNew = true;
  }
}
