// A relayed Gemini stream: every chunk is a whole answer's envelope, which is patched; a copy goes through the decoder
// for the records. Only for upstreams that follow Google's own definition.
import type { FinishEvent, GatewayError, Usage } from '../../canonical/index.ts';
import { AnswerTap, NO_IDS } from '../answer-tap.ts';
import { FrameSplitter, frameData, replaceData } from '../frame-splitter.ts';
import type { RelayFacts, RelayStream, StreamDecoder } from '../protocol.ts';
import { RelayOutput } from '../relay-output.ts';
import { decodeStream } from './decode-stream.ts';
import { patchEnvelope } from './patch-envelope.ts';

/** A chunk that says how the answer ended: the last one, as far as anybody knows. */
const FINISH = ['"finishReason"', '"blockReason"'] as const;

export class GeminiRelayStream implements RelayStream {
  readonly #facts: RelayFacts;
  readonly #frames = new FrameSplitter();
  readonly #tap = new AnswerTap();
  readonly #decoder: StreamDecoder = decodeStream(this.#tap, NO_IDS);
  readonly #out = new RelayOutput();
  /** The chunk with the reason: it goes out when the records are written, or when another one follows. */
  #last = '';
  errorShown = false;
  committed = false;
  /** There is no terminal marker: the connection's end is the end. */
  readonly done = false;

  constructor(facts: RelayFacts) {
    this.#facts = facts;
  }

  get upstreamId(): string | undefined {
    return this.#tap.upstreamId;
  }

  get usage(): Usage | undefined {
    return this.#tap.usage;
  }

  get finish(): FinishEvent | undefined {
    return this.#tap.finish;
  }

  get error(): GatewayError | undefined {
    return this.#tap.error;
  }

  get outputChars(): number {
    return this.#tap.outputChars;
  }

  get isEmpty(): boolean {
    return this.#tap.isEmpty;
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#out.release(this.committed);
  }

  end(): string {
    const last = this.#frames.end();
    if (last !== '' && this.error === undefined) this.#pass(last);
    this.#decoder.end();
    if (this.error === undefined) this.committed = true;
    const tail = this.error === undefined || this.errorShown ? this.#last : '';
    this.#last = '';
    return this.#out.release(this.committed) + tail;
  }

  readonly #take = (frame: string): boolean => {
    this.#pass(frame);
    return this.error === undefined;
  };

  #pass(frame: string): void {
    const data = frameData(frame);
    if (data === '') {
      this.#out.add(frame);
      return;
    }
    this.#decoder.frame('', data);
    this.#out.add(this.#last);
    this.#last = '';
    if (this.error) {
      this.errorShown = this.committed && data.includes('"error"');
      if (this.errorShown) this.#out.add(replaceData(frame, data, this.#facts.redact(data)));
      return;
    }
    this.committed ||= this.#tap.hasContent;
    const patched = replaceData(frame, data, patchEnvelope(data, this.#facts));
    if (FINISH.some((member) => data.includes(member))) this.#last = patched;
    else this.#out.add(patched);
  }
}
