// Base class of stream encoders: dispatches the events of an answer, collects what every protocol reports at the end,
// and ends the stream once.
import { startKnownAt } from '../../canonical/index.ts';
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  ExtraEvent,
  FinishEvent,
  GatewayError,
  OpenEvent,
  ReasoningEvent,
  StartEvent,
  TextEvent,
  UnknownEvent,
  Usage,
} from '../../canonical/index.ts';
import type { AnswerContext } from '../protocol.ts';

/** Subclasses write the frames of each event. After `finish` or `error`, nothing is written. */
export abstract class StreamEncoder implements EventSink {
  /** Takes complete frames. */
  protected readonly write: (frames: string) => void;
  protected readonly context: AnswerContext;
  protected start: StartEvent = { type: 'start' };
  /** Token counts so far; undefined until the upstream has sent some. */
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
        this.start = startKnownAt(event, this.start);
        this.onFinish(event);
        this.done = true;
        return;
      case 'error':
        this.onError(event.error);
        this.done = true;
        return;
      case 'extra':
        return this.onExtra(event);
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
  /** Pieces and frames that only another protocol defines are dropped. */
  protected onExtra(_event: ExtraEvent): void {}
  protected onUnknown(_event: UnknownEvent): void {}
  protected abstract onFinish(event: FinishEvent): void;
  protected abstract onError(error: GatewayError): void;
}

/** Offsets of message parts in the text of the whole answer, in UTF-16 code units. */
export class TextOffsets {
  readonly #starts: (number | undefined)[][] = [];

  /**
   * Returns the start of a message part, which is fixed on the first call.
   * @param length of the answer's text so far
   */
  at(index: number, part: number, length: number): number {
    return ((this.#starts[index] ??= [])[part] ??= length);
  }
}
