// Skeleton of what writes an answer as a stream: sorts the events, keeps what every protocol tells at the end, and ends
// once. Knows no frame.
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  FinishEvent,
  GatewayError,
  OpenEvent,
  ReasoningEvent,
  StartEvent,
  TextEvent,
  UnknownEvent,
  Usage,
} from '../canonical/index.ts';
import type { AnswerContext } from './protocol.ts';

/** A protocol says what it writes of each event; after `finish` or `error` nothing more is. */
export abstract class StreamEncoder implements EventSink {
  /** Takes complete frames. */
  protected readonly write: (frames: string) => void;
  protected readonly context: AnswerContext;
  protected start: StartEvent = { type: 'start' };
  /** The counts so far; undefined until the upstream has told some. */
  protected usage: Usage | undefined;
  protected done = false;

  constructor(write: (frames: string) => void, context: AnswerContext) {
    this.write = write;
    this.context = context;
  }

  on(event: CanonicalEvent): void {
    if (this.done) return;
    switch (event.type) {
      case 'text':
        return this.onText(event);
      case 'arguments':
        return this.onArguments(event);
      case 'reasoning':
        return this.onReasoning(event);
      case 'start':
        this.start = event;
        return this.onStart();
      case 'open':
        return this.onOpen(event);
      case 'annotate':
        return this.onAnnotate(event);
      case 'close':
        return this.onClose(event);
      case 'usage':
        this.usage = event.usage;
        return;
      case 'finish':
        this.onFinish(event);
        this.done = true;
        return;
      case 'error':
        this.onError(event.error);
        this.done = true;
        return;
      case 'unknown':
        return this.onUnknown(event);
      // Pieces belong to answers of other tasks.
      case 'piece':
        return;
    }
  }

  protected onStart(): void {}
  protected abstract onOpen(event: OpenEvent): void;
  protected abstract onText(event: TextEvent): void;
  protected abstract onReasoning(event: ReasoningEvent): void;
  protected abstract onArguments(event: ArgumentsEvent): void;
  protected abstract onAnnotate(event: AnnotateEvent): void;
  protected abstract onClose(event: CloseEvent): void;
  /** Whole frames of another protocol have no place. */
  protected onUnknown(_event: UnknownEvent): void {}
  protected abstract onFinish(event: FinishEvent): void;
  protected abstract onError(error: GatewayError): void;
}

/** Places of the parts of messages in the text of the whole answer, in UTF-16 units. */
export class TextOffsets {
  readonly #starts: (number | undefined)[][] = [];

  /**
   * The start of a message's part, fixed when the part is first met.
   * @param length of the answer's text so far
   */
  at(index: number, part: number, length: number): number {
    return ((this.#starts[index] ??= [])[part] ??= length);
  }
}
