// The parts of an answer, in order, each with the signature that stands on it. The same rules hold for whole answers
// and for streams, and are the inverse of decode-contents.ts. Knows nothing of frames.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { OpaqueReasoning, Source } from '../../../canonical/index.ts';
import { callInput } from '../../call-input.ts';
import { encodePicture } from '../hosted-parts.ts';
import { encodeSignature, GEMINI_REASONING } from '../thought-signature.ts';

export interface AnsweredCall {
  readonly kind: 'function' | 'custom';
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly source?: Source | undefined;
}

export class PartWriter {
  readonly #write: (part: JsonObject) => void;
  readonly #showThoughts: boolean;
  /** A signature that waits for the part that it stands on. */
  #signature: string | undefined;

  /** @param showThoughts false: thoughts are withheld; signatures, which show nothing, are not */
  constructor(write: (part: JsonObject) => void, showThoughts: boolean) {
    this.#write = write;
    this.#showThoughts = showThoughts;
  }

  /** True when the next part is to be signed. */
  get isSigning(): boolean {
    return this.#signature !== undefined;
  }

  /**
   * A piece of a thought, with the state that belongs to it. What vouches for the thought stands on it; other state on
   * the part that follows, where every client keeps it. Only Gemini's own form can be carried: the engine has sealed
   * that of other families into it.
   */
  thought(text: string, opaque: OpaqueReasoning | undefined, hasText: boolean): void {
    const own = opaque?.format === GEMINI_REASONING ? encodeSignature(opaque.data) : undefined;
    const vouches = own !== undefined && opaque?.kind === 'signature' && hasText && this.#showThoughts;
    if (this.#showThoughts && (text !== '' || vouches))
      this.#write({ text, thought: true, ...(vouches ? { thoughtSignature: own } : {}) });
    if (own === undefined || vouches) return;
    this.#flush();
    this.#signature = own;
  }

  text(text: string): void {
    if (text !== '') this.#write(this.textPart(text));
  }

  /** The part for a text, for a writer that has more to say beside it. */
  textPart(text: string): JsonObject {
    return this.#signed({ text });
  }

  call(call: AnsweredCall): void {
    const { callId: id, name, source } = call;
    const own = source?.protocol === 'gemini' ? source.raw : {};
    this.#write(this.#signed({ ...own, functionCall: { id, name, args: callInput(call) } }));
  }

  /** A part as Gemini wrote it; what only other protocols know has no place here. */
  raw(source: Source): void {
    if (source.protocol !== 'gemini') return;
    this.#flush();
    this.#write(source.raw);
  }

  /** A picture: Gemini's own part as it came. */
  picture(picture: Parameters<typeof encodePicture>[0], source: Source | undefined): void {
    if (source?.protocol === 'gemini') this.raw(source);
    else this.#write(this.#signed({ ...encodePicture(picture) }));
  }

  /** The part for the end of an answer: empty, or with the signature that no part followed. */
  last(): JsonObject {
    return this.textPart('');
  }

  #flush(): void {
    if (this.#signature !== undefined) this.#write(this.last());
  }

  #signed(part: MutableJsonObject): MutableJsonObject {
    if (this.#signature === undefined) return part;
    part['thoughtSignature'] = this.#signature;
    this.#signature = undefined;
    return part;
  }
}
