// Passes an answer to the client up to the first part that must be checked, and holds back the rest until the check.
import {
  type CanonicalEvent,
  type CollectedEvents,
  Collector,
  type EventSink,
  isContent,
  type Item,
  type OpenItem,
  TEXTS,
} from '../../canonical/index.ts';
import { type AnswerCheck, nameUpstream } from '../adapt/index.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';

export class CheckedOutput implements AttemptOutput {
  readonly keeps = true;
  /** The whole answer. */
  readonly collector = new Collector();
  readonly #output: AttemptOutput;
  readonly #claim: (() => void) | undefined;
  readonly #checks: readonly AnswerCheck[];
  #by: Attempt | undefined;
  /** True once the client has received something. */
  #isPassing = false;
  /** Events before the first content. */
  #waiting: CanonicalEvent[] = [];
  /** Index of the first item that is held back. Undefined: none yet. */
  #from: number | undefined;

  /** @param claim called immediately before the first output to the client */
  constructor(output: AttemptOutput, claim: (() => void) | undefined, checks: readonly AnswerCheck[]) {
    this.#output = output;
    this.#claim = claim;
    this.#checks = checks;
    this.#from = checks.some((check) => check.holds === 'everything') ? 0 : undefined;
  }

  /** True when something is held back for checking. */
  get isHolding(): boolean {
    return this.#from !== undefined;
  }

  commit(by: Attempt): void {
    this.#by = by;
  }

  on(event: CanonicalEvent): void {
    this.collector.on(event);
    if (event.type === 'open' && this.#from === undefined && this.#isChecked(event)) this.#from = event.index;
    // Items that began before the first checked call pass through. The end of the answer is held back.
    if (this.#from !== undefined && !('index' in event && event.index < this.#from)) return;
    if (!this.#isPassing) {
      if (!isContent(event)) {
        this.#waiting.push(event);
        return;
      }
      this.#begin(this.#by);
    }
    this.#output.on(event);
  }

  /**
   * Sends the client the held part as the checks left it.
   * @param by attempt whose usage and name the answer has
   */
  release(answer: CollectedEvents, by: Attempt): void {
    const from = this.#from ?? 0;
    if (!this.#isPassing) {
      if (from === 0) this.#waiting = [answer.start];
      this.#begin(by);
    }
    replayFrom(answer, from, this.#output);
    this.#output.finishing();
  }

  relay(): void {}

  relayWhole(): void {}

  flush(): void {
    if (this.#isPassing) this.#output.flush();
  }

  finishing(): void {
    if (this.#from === undefined) this.#output.finishing();
  }

  #begin(by: Attempt | undefined): void {
    if (!by) throw new TypeError(TEXTS.withoutAttempt);
    this.#isPassing = true;
    this.#claim?.();
    this.#output.commit(by);
    for (const event of this.#waiting.splice(0)) this.#output.on(event);
  }

  #isChecked({ item }: Extract<CanonicalEvent, { type: 'open' }>): boolean {
    if (item.type !== 'tool_call' || item.kind !== 'custom') return false;
    const name = nameUpstream(item);
    return this.#checks.some(({ holds }) => holds !== 'everything' && holds.has(name));
  }
}

// Replays a collected answer as events.

/** Pushes the items from an index on, then usage and finish. */
function replayFrom(events: CollectedEvents, from: number, sink: EventSink): void {
  events.items.forEach((item, index) => {
    if (index < from) return;
    sink.on({ type: 'open', index, item: opening(item) });
    replayContent(item, index, sink);
    sink.on({ type: 'close', index, source: item.source });
  });
  if (events.usage) sink.on({ type: 'usage', usage: events.usage });
  if (events.error) sink.on({ type: 'error', error: events.error });
  else if (events.finish) sink.on(events.finish);
}

function opening(item: Item): OpenItem {
  switch (item.type) {
    case 'message':
      return { type: 'message', id: item.id };
    case 'reasoning':
      return { type: 'reasoning', id: item.id, format: item.format };
    case 'tool_call':
      return {
        type: 'tool_call',
        kind: item.kind,
        id: item.id,
        callId: item.callId,
        name: item.name,
        ...(item.namespace === undefined ? {} : { namespace: item.namespace }),
        ...(item.source === undefined ? {} : { source: item.source }),
      };
    case 'tool_result':
    case 'reference':
      throw new TypeError(`a ${item.type} is never part of a response`);
    default:
      return item;
  }
}

function replayContent(item: Item, index: number, sink: EventSink): void {
  if (item.type === 'message') {
    item.parts.forEach((part, at) => {
      if (part.type === 'refusal')
        sink.on({ type: 'text', index, part: at, kind: 'refusal', text: part.refusal });
      if (part.type !== 'text') return;
      sink.on({ type: 'text', index, part: at, kind: 'text', text: part.text, logprobs: part.logprobs });
      for (const annotation of part.annotations ?? [])
        sink.on({ type: 'annotate', index, part: at, annotation });
    });
  } else if (item.type === 'reasoning') {
    item.summary.forEach((text, part) => sink.on({ type: 'reasoning', index, kind: 'summary', part, text }));
    item.text.forEach((text, part) => sink.on({ type: 'reasoning', index, kind: 'text', part, text }));
    if (item.opaque)
      sink.on({ type: 'reasoning', index, kind: 'text', part: 0, text: '', opaque: item.opaque });
  } else if (item.type === 'tool_call') {
    sink.on({ type: 'arguments', index, text: item.arguments });
  }
}
