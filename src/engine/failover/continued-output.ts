// Joins a continuation to the part of the answer that the client has: same message, contiguous indices, no second
// start, no reasoning, no repetition, and the usage of both.
import type {
  AnnotateEvent,
  CanonicalEvent,
  OpenEvent,
  TextEvent,
  Usage,
  UsageEvent,
} from '../../canonical/index.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import { RepetitionFilter } from './repetition-filter.ts';

/** Output that a client has received, and the means to send more. */
export interface BegunAnswer {
  readonly text: string;
  /** Client's index of the message that can still grow. */
  readonly openMessage: number | undefined;
  /** Client's indices of incomplete reasoning items. */
  readonly openReasoning: readonly number[];
  /** Number of items at the client, which is the next index. */
  readonly items: number;
  /** Estimated tokens of all output so far. */
  produced(): Usage['output'];
  show(event: CanonicalEvent): void;
}

export class ContinuedOutput implements AttemptOutput {
  readonly #begun: BegunAnswer;
  readonly #client: AttemptOutput;
  readonly #filter: RepetitionFilter;
  readonly #earlier: Usage['output'];
  readonly #earlierChars: number;
  /** The client's message that the first message of this answer continues. */
  readonly #message: number | undefined;
  /** Index of the continuing message in this answer. */
  #continuing: number | undefined;
  /** Client's index of each item of this answer. Null: not shown. */
  readonly #indices: (number | null)[] = [];
  /** Added to part indices of the continued message, because text and refusal cannot share a part. */
  #partShift = 0;
  #showing = false;

  constructor(begun: BegunAnswer, client: AttemptOutput, repeats: boolean) {
    this.#begun = begun;
    this.#client = client;
    this.#filter = new RepetitionFilter(begun.text, repeats);
    this.#earlier = begun.produced();
    this.#earlierChars = begun.text.length;
    this.#message = begun.openMessage;
  }

  get keeps(): boolean {
    return this.#client.keeps;
  }

  commit(by: Attempt): void {
    this.#client.commit(by);
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'open':
        return this.#open(event);
      case 'text':
        return this.#text(event);
      case 'annotate':
        return this.#annotate(event);
      case 'reasoning':
      case 'arguments': {
        const index = this.#indices[event.index] ?? null;
        if (index !== null) this.#show({ ...event, index });
        return;
      }
      case 'close': {
        const index = this.#indices[event.index] ?? null;
        if (event.index === this.#continuing) this.#release();
        // The raw form contains only the second half of a continued message.
        if (index !== null)
          this.#show(index === this.#message ? { type: 'close', index } : { ...event, index });
        return;
      }
      case 'usage':
        return this.#begun.show(this.#added(event));
      case 'finish':
        this.#release();
        this.#closeMessage();
        return this.#show(event);
      // The client already has its start event. Unknown frames belong to another stream.
      case 'start':
      case 'piece':
      case 'extra':
      case 'unknown':
      case 'error':
        return;
    }
  }

  relay(): void {
    throw new TypeError('a continuation cannot be relayed');
  }

  relayWhole(): void {
    throw new TypeError('a continuation cannot be relayed');
  }

  finishing(): void {
    this.#client.finishing();
  }

  flush(): void {
    this.#client.flush();
  }

  #open(event: OpenEvent): void {
    const { type } = event.item;
    if (type === 'reasoning') {
      this.#indices[event.index] = null;
      return;
    }
    if (type === 'message' && this.#continuing === undefined && this.#begun.openMessage !== undefined) {
      this.#continuing = event.index;
      this.#indices[event.index] = this.#begun.openMessage;
      return;
    }
    this.#release();
    if (this.#continuing === undefined) this.#closeMessage();
    const index = this.#begun.items;
    this.#indices[event.index] = index;
    this.#show({ ...event, index });
  }

  #text(event: TextEvent): void {
    const index = this.#indices[event.index] ?? null;
    if (index === null) return;
    if (event.index !== this.#continuing) return this.#show({ ...event, index });
    if (event.kind === 'text' && event.part === 0) {
      const text = this.#filter.push(event.text);
      if (text === event.text) this.#show({ ...event, index });
      else if (text !== '') this.#show({ ...event, index, text, logprobs: undefined });
      return;
    }
    this.#release();
    if (event.part === 0) this.#partShift = 1;
    this.#show({ ...event, index, part: event.part + this.#partShift });
  }

  /** Citations count characters of the upstream's own text. */
  #annotate(event: AnnotateEvent): void {
    const index = this.#indices[event.index] ?? null;
    if (index === null) return;
    const { annotation, part } = event;
    if (event.index !== this.#continuing) return this.#show({ ...event, index });
    this.#release();
    if (part > 0) return this.#show({ ...event, index, part: part + this.#partShift });
    if (annotation.type !== 'url_citation') return this.#show({ ...event, index });
    const offset = this.#earlierChars - this.#filter.removed;
    const { url, title, start, end } = annotation;
    this.#show({
      ...event,
      index,
      annotation: { type: 'url_citation', url, title, start: start + offset, end: end + offset },
    });
  }

  /** Usage of this attempt, plus an estimate for earlier ones that did not report theirs. */
  #added({ usage }: UsageEvent): UsageEvent {
    const { text, reasoning } = this.#earlier;
    const { output } = usage;
    return {
      type: 'usage',
      usage: {
        ...usage,
        output: { ...output, text: output.text + text, reasoning: output.reasoning + reasoning },
        estimated: true,
        raw: null,
      },
    };
  }

  /** Shows text that was held back as a possible repetition. */
  #release(): void {
    const text = this.#filter.end();
    if (text === '' || this.#message === undefined) return;
    this.#show({ type: 'text', index: this.#message, part: 0, kind: 'text', text });
  }

  #closeMessage(): void {
    const index = this.#begun.openMessage;
    if (index !== undefined) this.#show({ type: 'close', index });
  }

  #show(event: CanonicalEvent): void {
    if (!this.#showing) {
      this.#showing = true;
      for (const index of this.#begun.openReasoning) this.#begun.show({ type: 'close', index });
    }
    this.#begun.show(event);
  }
}
