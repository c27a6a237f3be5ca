// Collects the events of an answer into whole items, for non-streamed responses, records and the vault.
import type { GatewayError } from './error.ts';
import { startKnownAt } from './event.ts';
import type { CanonicalEvent, EventSink, FinishEvent, OpenItem, StartEvent } from './event.ts';
import type { HostedFacts } from './hosted-facts.ts';
import type { Item, OpaqueReasoning } from './item.ts';
import type { JsonValue } from '../base/json/index.ts';
import type { Annotation, Part, Source } from './part.ts';
import type { Usage } from './usage.ts';

export interface CollectedEvents {
  readonly start: StartEvent;
  readonly items: readonly Item[];
  readonly usage: Usage | undefined;
  readonly finish: FinishEvent | undefined;
  readonly error: GatewayError | undefined;
}

interface TextDraft {
  kind: 'text' | 'refusal';
  text: string;
  annotations: Annotation[];
  logprobs: JsonValue[];
}
interface Draft {
  open: OpenItem;
  parts: TextDraft[];
  text: string[];
  summary: string[];
  opaque: OpaqueReasoning | undefined;
  arguments: string;
  source: Source | undefined;
  facts: HostedFacts | undefined;
}

/** Collects all events. `result()` may be called at any time, also after an error. */
export class Collector implements EventSink {
  #start: StartEvent = { type: 'start' };
  readonly #drafts: Draft[] = [];
  #usage: Usage | undefined;
  #finish: FinishEvent | undefined;
  #error: GatewayError | undefined;

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'start':
        this.#start = event;
        return;
      case 'open':
        this.#drafts[event.index] = {
          open: event.item,
          parts: [],
          text: [],
          summary: [],
          opaque: undefined,
          arguments: '',
          source: undefined,
          facts: undefined,
        };
        return;
      case 'text': {
        const draft = this.#part(event.index, event.part, event.kind);
        if (!draft) return;
        draft.text += event.text;
        if (event.logprobs) draft.logprobs.push(...event.logprobs);
        return;
      }
      case 'annotate':
        this.#part(event.index, event.part, 'text')?.annotations.push(event.annotation);
        return;
      case 'reasoning': {
        const draft = this.#drafts[event.index];
        if (!draft) return;
        if (event.opaque) draft.opaque = event.opaque;
        if (!event.text) return;
        const parts = event.kind === 'summary' ? draft.summary : draft.text;
        while (parts.length <= event.part) parts.push('');
        parts[event.part] += event.text;
        return;
      }
      case 'arguments': {
        const draft = this.#drafts[event.index];
        if (draft) draft.arguments += event.text;
        return;
      }
      case 'close': {
        const draft = this.#drafts[event.index];
        if (draft && event.source) draft.source = event.source;
        if (draft && event.facts) draft.facts = event.facts;
        return;
      }
      case 'usage':
        this.#usage = event.usage;
        return;
      case 'finish':
        this.#finish = event;
        this.#start = startKnownAt(event, this.#start);
        return;
      case 'error':
        this.#error = event.error;
        return;
      case 'piece':
      case 'extra':
      case 'unknown':
        return;
    }
  }

  result(): CollectedEvents {
    return {
      start: this.#start,
      items: this.#drafts.filter((draft) => draft !== undefined).map(finishItem),
      usage: this.#usage,
      finish: this.#finish,
      error: this.#error,
    };
  }

  #part(index: number, part: number, kind: 'text' | 'refusal'): TextDraft | undefined {
    const draft = this.#drafts[index];
    if (!draft) return undefined;
    while (draft.parts.length <= part) draft.parts.push({ kind, text: '', annotations: [], logprobs: [] });
    return draft.parts[part];
  }
}

function finishItem(draft: Draft): Item {
  const { open, source } = draft;
  if (open.type === 'message') {
    const parts = draft.parts.map(finishPart);
    // Most messages have no source.
    return source ? { ...open, role: 'assistant', parts, source } : { ...open, role: 'assistant', parts };
  }
  const from = source ? { source } : {};
  switch (open.type) {
    case 'reasoning':
      return { ...open, text: draft.text, summary: draft.summary, opaque: draft.opaque, ...from };
    case 'tool_call':
      return { ...open, arguments: draft.arguments, ...from };
    case 'hosted_call':
      return { ...open, ...from, ...(draft.facts ? { facts: draft.facts } : {}) };
    default:
      return { ...open, ...from };
  }
}

function finishPart({ kind, text, annotations, logprobs }: TextDraft): Part {
  if (kind === 'refusal') return { type: 'refusal', refusal: text, ...(logprobs.length ? { logprobs } : {}) };
  if (annotations.length === 0 && logprobs.length === 0) return { type: 'text', text };
  return {
    type: 'text',
    text,
    ...(annotations.length ? { annotations } : {}),
    ...(logprobs.length ? { logprobs } : {}),
  };
}
