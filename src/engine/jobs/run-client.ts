// The client of a run in the background: its frames go on under the numbers of the kept stream, and how it ended is noted for
// whoever runs the job.
import { toByteString } from '../../base/lib/byte-string.ts';
import type { BackgroundCodec } from '../../protocols/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { Client, ClientStream, Encoding } from '../call.ts';
import type { KeptStream } from '../streams/index.ts';

const COMPLETED = 'event: response.completed\n';
const INCOMPLETE = 'event: response.incomplete\n';
const FAILED = 'event: response.failed\n';
/** Begin a stream, and are no part of the answer. */
const BEGINNINGS = /^event: response\.(?:created|queued|in_progress)\n/;

export class RunClient implements Client, ClientStream {
  /** True once a complete answer was written, be it one that a limit has cut. */
  isComplete = false;
  /** True once its failure was written. */
  hasFailed = false;
  /** True once there was anything of an answer. */
  hasContent = false;
  /** Event that says how the answer ended, for whoever ends the stream; null: there is none yet. */
  last: string | null = null;
  /** Nothing more is written: the job is tried again, and nobody has to know. */
  isMuted = false;
  readonly #stream: KeptStream;
  readonly #codec: BackgroundCodec;
  readonly #cancellation: Cancellation;

  constructor(stream: KeptStream, codec: BackgroundCodec, cancellation: Cancellation) {
    this.#stream = stream;
    this.#codec = codec;
    this.#cancellation = cancellation;
  }

  /** A refusal: whoever runs the job knows it as an error. */
  respond(): void {}

  openStream(): ClientStream {
    return this;
  }

  write(data: string, encoding: Encoding): boolean {
    if (this.isMuted) return true;
    let hasRoom = true;
    for (const frame of framesOf(data)) {
      if (frame.startsWith(':')) {
        hasRoom = this.#stream.write(frame, encoding);
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

  /** The stream ends when the job does. */
  end(): void {}

  onLeave(left: () => void): void {
    this.#cancellation.add({ cancel: left });
  }
}

function framesOf(text: string): readonly string[] {
  const single = text.indexOf('\n\n') === text.length - 2;
  return single ? [text] : text.split(/(?<=\r?\n\r?\n)/).filter((frame) => frame !== '');
}
