// Writes the events of a Messages stream, and numbers the blocks.
import { eventFrame } from '../../../base/lib/event-stream.ts';
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';

/** Kinds of blocks whose content is sent in deltas. */
export type StreamedBlock = 'text' | 'thinking' | 'tool_use';

/** Delta of each kind, up to its value. */
const DELTAS: Readonly<Record<StreamedBlock, string>> = {
  text: '{"type":"text_delta","text":',
  thinking: '{"type":"thinking_delta","thinking":',
  tool_use: '{"type":"input_json_delta","partial_json":',
};

export class BlockWriter {
  readonly #write: (frames: string) => void;
  #blocks = 0;
  #head = '';

  constructor(write: (frames: string) => void) {
    this.#write = write;
  }

  /** Begins the next block. */
  start(block: JsonObject, kind?: StreamedBlock): void {
    const index = this.#blocks++;
    this.frame('content_block_start', { index, content_block: block });
    if (kind === undefined) return;
    this.#head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${DELTAS[kind]}`;
  }

  /** Writes text of the current block, in a delta of its kind. */
  text(text: string): void {
    this.#write(`${this.#head}${JSON.stringify(text)}}}\n\n`);
  }

  /** Writes any other delta of the current block. */
  delta(delta: JsonObject): void {
    this.frame('content_block_delta', { index: this.#blocks - 1, delta });
  }

  /** Writes any other event about the current block. */
  about(type: string, members: JsonObject): void {
    this.frame(type, { ...members, index: this.#blocks - 1 });
  }

  /** Ends the current block. */
  stop(): void {
    this.frame('content_block_stop', { index: this.#blocks - 1 });
  }

  /** Writes a whole block. As in Anthropic's streams, input is sent in a delta, everything else in the start. */
  whole(block: JsonObject): void {
    const { input } = block;
    this.start(input === undefined ? block : { ...block, input: {} });
    if (input !== undefined) this.delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) });
    this.stop();
  }

  /** Writes an event with these members. */
  frame(type: string, members: Readonly<Record<string, JsonValue | undefined>>): void {
    this.#write(eventFrame(type, JSON.stringify({ type, ...members })));
  }
}
