// Client of a background run: writes its frames with the numbers of the kept stream, and notes for the job how it
// ended.
import { toByteString } from '../../base/lib/bytes.ts';
import type { BackgroundCodec } from '../../protocols/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { Client, ClientStream, Encoding } from '../call.ts';
import type { KeptStream } from '../streams/index.ts';

const COMPLETED = 'event: response.completed\n';
const INCOMPLETE = 'event: response.incomplete\n';
const FAILED = 'event: response.failed\n';
/** Frames that begin a stream and are not part of the answer. */
const BEGINNINGS = /^event: response\.(?:created|queued|in_progress)\n/;

export class RunClient implements Client, ClientStream {
  /** True once a complete answer was written, even if truncated by a limit. */
  isComplete = false;
  /** True once its failure was written. */
  hasFailed = false;
  /** True once there was any content. */
  hasContent = false;
  /** Event that ends the stream. Null: none yet. */
  last: string | null = null;
  /** True: nothing more is written, because the job is tried again. */
  isMuted = false;
  readonly #stream: KeptStream;
  readonly #codec: BackgroundCodec;
  readonly #cancellation: Cancellation;

  constructor(stream: KeptStream, codec: BackgroundCodec, cancellation: Cancellation) {
    this.#stream = stream;
    this.#codec = codec;
    this.#cancellation = cancellation;
  }

  /** The job receives a refusal as an error. */
  respond(): void {}

  openStream(): ClientStream {
    return this;
  }

  write(data: string, encoding: Encoding): boolean {
    if (this.isMuted) return true;
    let hasRoom = true;
    for (const frame of framesOf(data)) {
      if (frame.startsWith(':')) {
        this.#stream.writeKeepAlive(frame);
        continue;
      }
      const isComplete = frame.startsWith(COMPLETED) || frame.startsWith(INCOMPLETE);
      const hasFailed = frame.startsWith(FAILED);
      this.isComplete ||= isComplete;
      this.hasFailed ||= hasFailed;
      this.hasContent ||= !BEGINNINGS.test(frame);
      const numbered = this.#codec.renumbered(frame, this.#stream.next);
      if (numbered === null) continue;
      if (isComplete || hasFailed) this.last = encoding === 'text' ? toByteString(numbered) : numbered;
      else hasRoom = this.#stream.write(numbered, encoding);
    }
    return hasRoom;
  }

  onDrain(drained: () => void): void {
    this.#stream.onDrain(drained);
  }

  /** The job ends the stream. */
  end(): void {}

  onLeave(left: () => void): void {
    this.#cancellation.add({ cancel: left });
  }
}

function framesOf(text: string): readonly string[] {
  const single = text.indexOf('\n\n') === text.length - 2;
  return single ? [text] : text.split(/(?<=\r?\n\r?\n)/).filter((frame) => frame !== '');
}
