// Names of the events that stream a part of an item. OpenAI and Open Responses differ for raw reasoning only.
import type { AnswerContext } from '../../protocol.ts';
import type { PartKind } from './item-draft.ts';

export interface PartEvents {
  readonly delta: string;
  readonly done: string;
  /** Name of the member with the part's index. */
  readonly place: 'content_index' | 'summary_index';
}

/** Names of the delta, the end and the index member for each kind of part. */
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

/** Names in Open Responses (schema of 2026-04-24). OpenAI's libraries only read `response.reasoning_text.*`. */
const OPEN_REASONING: PartEvents = {
  delta: 'response.reasoning.delta',
  done: 'response.reasoning.done',
  place: 'content_index',
};

/** Returns the events of a kind of part, in the variant that the client uses. */
export function partEvents(kind: PartKind, { readsOpenWords }: AnswerContext): PartEvents {
  return kind === 'reasoning' && readsOpenWords === true ? OPEN_REASONING : PART_EVENTS[kind];
}
