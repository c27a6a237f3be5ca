// Encrypts answers that leave the process: names that reveal nothing, and frames that only processes of the same installation
// can read. A server of Valkey or Redis may write what it has to a disk; answers are not to lie there.
import { createHmac } from 'node:crypto';
import { open, seal } from '../../../engine/state/seal.ts';

/** Head of an answer, before its bytes. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly streamed: boolean;
}

/** Position of a frame: it opens at no other. */
export interface FramePlace {
  readonly name: string;
  readonly run: string;
  readonly edition: number;
  readonly index: number;
}

export class SealedFrames {
  readonly #key: Uint8Array;

  /** @param key 32 bytes of this installation */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The same text for the same words, which nobody else can make. */
  hide(words: string): string {
    return createHmac('sha256', this.#key).update(words).digest('base64url');
  }

  /** @param bytes a byte string */
  seal(bytes: string, place: FramePlace): string {
    return Buffer.from(seal(this.#key, Buffer.from(bytes, 'latin1'), placeText(place))).toString('base64');
  }

  /** Null for what was not sealed for this place. */
  open(frame: string, place: FramePlace): string | null {
    const bytes = open(this.#key, Buffer.from(frame, 'base64'), placeText(place));
    return bytes && Buffer.from(bytes).toString('latin1');
  }

  openHead(frame: string, place: FramePlace): AnswerHead | null {
    const bytes = this.open(frame, place);
    return bytes === null ? null : (JSON.parse(Buffer.from(bytes, 'latin1').toString()) as AnswerHead);
  }
}

function placeText({ name, run, edition, index }: FramePlace): string {
  return `answer ${name} ${run} ${edition} ${index}`;
}
