// Writes the parts of an answer in order, each with its signature, for whole answers and streams. It is the inverse of
// `decode-conversation.ts`.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { OpaqueReasoning, Source } from '../../../canonical/index.ts';
import { callInput } from '../../calls/call-input.ts';
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
  /** Signature for the next part. */
  #signature: string | undefined;

  /** @param showThoughts false: thoughts are withheld, but not signatures, which reveal nothing */
  constructor(write: (part: JsonObject) => void, showThoughts: boolean) {
    this.#write = write;
    this.#showThoughts = showThoughts;
  }

  /** True if the next part will be signed. */
  get isSigning(): boolean {
    return this.#signature !== undefined;
  }

  /**
   * Writes a piece of a thought with its hidden state. A signature of the thought is put on it; other state is put on
   * the following part, where every client keeps it. Only Gemini's own format can be carried: the engine wraps other
   * families' state in it.
   */
  thought(text: string, opaque: OpaqueReasoning | undefined, hasText: boolean): void {
    const own = opaque?.format === GEMINI_REASONING ? encodeSignature(opaque.data) : undefined;
    const signsText = own !== undefined && opaque?.kind === 'signature' && hasText && this.#showThoughts;
    if (this.#showThoughts && (text !== '' || signsText))
      this.#write({ text, thought: true, ...(signsText ? { thoughtSignature: own } : {}) });
    if (own === undefined || signsText) return;
    this.#flush();
    this.#signature = own;
  }

  text(text: string): void {
    if (text !== '') this.#write(this.textPart(text));
  }

  /** Returns the part for a text, for callers that add other members. */
  textPart(text: string): JsonObject {
    return this.#signed({ text });
  }

  call(call: AnsweredCall): void {
    const { callId: id, name, source } = call;
    const own = source?.protocol === 'gemini' ? source.raw : {};
    this.#write(this.#signed({ ...own, functionCall: { id, name, args: callInput(call) } }));
  }

  /** Writes a part from Gemini. Parts that only other protocols have are dropped. */
  raw(source: Source): void {
    if (source.protocol !== 'gemini') return;
    this.#flush();
    this.#write(source.raw);
  }

  /** Writes an image. Gemini's own part is unchanged. */
  picture(picture: Parameters<typeof encodePicture>[0], source: Source | undefined): void {
    if (source?.protocol === 'gemini') this.raw(source);
    else this.#write(this.#signed({ ...encodePicture(picture) }));
  }

  /** Returns the last part of an answer: empty, or with a remaining signature. */
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
