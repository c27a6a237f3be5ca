// Relayed Gemini stream: patches the envelope of every chunk, and reads usage and finish reason with the decoder. Only
// for upstreams that follow Google's definition.
import { AnswerTap, NO_IDS } from '../relay/answer-tap.ts';
import { frameData, replaceData } from '../streams/frame-splitter.ts';
import type { StreamDecoder } from '../protocol.ts';
import { PatchedStream } from '../relay/relay-stream.ts';
import { decodeStream } from './answers/decode-stream.ts';
import { editMembers } from '../relay/json-splice.ts';
import { envelopePatches } from './patch-envelope.ts';

/** Members of a chunk that ends the answer. It is probably the last one. */
const FINISH = ['"finishReason"', '"blockReason"'] as const;

export class GeminiRelayStream extends PatchedStream {
  readonly #tap = new AnswerTap();
  readonly #decoder: StreamDecoder = decodeStream(this.#tap, NO_IDS);
  /** Chunk with the finish reason. It is held until the records are written, or until another one follows. */
  #last = '';

  /** There is no terminator: the end of the connection ends the answer. */
  protected override close(): string {
    this.#decoder.end();
    this.#learn();
    if (this.error === undefined) this.committed = true;
    const tail = this.error === undefined || this.errorShown ? this.#last : '';
    this.#last = '';
    return tail;
  }

  interrupt(): void {
    this.#decoder.interrupt?.();
    this.#learn();
  }

  protected override take(frame: string): boolean {
    if (this.error === undefined) this.#pass(frame);
    return this.error === undefined;
  }

  #pass(frame: string): void {
    const data = frameData(frame);
    if (data === '') {
      this.add(frame);
      return;
    }
    this.#decoder.frame('', data);
    this.#learn();
    this.add(this.#last);
    this.#last = '';
    if (this.error) {
      this.errorShown = this.committed && data.includes('"error"');
      if (this.errorShown) this.add(replaceData(frame, data, this.facts.redact(data)));
      return;
    }
    this.committed ||= this.#tap.hasContent;
    const patched = replaceData(frame, data, editMembers(data, { set: envelopePatches(this.facts) }));
    if (FINISH.some((member) => data.includes(member))) this.#last = patched;
    else this.add(patched);
  }

  /** Copies what the decoder has read so far. */
  #learn(): void {
    const { upstreamId, usage, finish, error, outputChars, isEmpty } = this.#tap;
    this.upstreamId = upstreamId;
    this.usage = usage;
    this.finish = finish;
    this.error = error;
    this.outputChars = outputChars;
    this.isEmpty = isEmpty;
  }
}
