// Encrypts answers that leave the process. Names are hashed, and only processes of the same installation can read frames,
// because Valkey and Redis may write their data to disk.
import { createHmac } from 'node:crypto';
import { open, seal } from '../../../engine/state/seal.ts';

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly streamed: boolean;
}

/** Position of a frame. It is authenticated, so that frames cannot be swapped. */
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

  /** Keyed hash of a name. */
  hide(words: string): string {
    return createHmac('sha256', this.#key).update(words).digest('base64url');
  }

  /** @param bytes a byte string */
  seal(bytes: string, place: FramePlace): string {
    return Buffer.from(seal(this.#key, Buffer.from(bytes, 'latin1'), placeText(place))).toString('base64');
  }

  /** Decrypts a frame; null if it was not encrypted for this position. */
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
