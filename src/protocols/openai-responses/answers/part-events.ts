// Names of the events in which a part of an item is streamed. OpenAI and Open Responses name those of raw reasoning
// differently; everything else has one name. Knows nothing of their order.
import type { AnswerContext } from '../../protocol.ts';
import type { PartKind } from './item-draft.ts';

export interface PartEvents {
  readonly delta: string;
  readonly done: string;
  /** Name of the part's place. */
  readonly place: 'content_index' | 'summary_index';
}

/** The events of each kind of part: its deltas and its end; and the name of its place. */
const PART_EVENTS: Readonly<Record<PartKind, PartEvents>> = {
  text: { delta: 'response.output_text.delta', done: 'response.output_text.done', place: 'content_index' },
  refusal: { delta: 'response.refusal.delta', done: 'response.refusal.done', place: 'content_index' },
  reasoning: {
    delta: 'response.reasoning_text.delta',
    done: 'response.reasoning_text.done',
    place: 'content_index',
  },
  summary: {
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    place: 'summary_index',
  },
};

/** Names of Open Responses (schema of 2026-04-24); OpenAI's libraries read `response.reasoning_text.*` alone. */
const OPEN_REASONING: PartEvents = {
  delta: 'response.reasoning.delta',
  done: 'response.reasoning.done',
  place: 'content_index',
};

/** The events of a kind of part, in the words that the client reads. */
export function partEvents(kind: PartKind, { readsOpenWords }: AnswerContext): PartEvents {
  return kind === 'reasoning' && readsOpenWords === true ? OPEN_REASONING : PART_EVENTS[kind];
}
