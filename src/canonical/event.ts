// Events of an answer while it arrives. Decoders push these, encoders take them; a non-streamed answer is the same
// list, pushed at once.
import type { HostedFacts } from './hosted-facts.ts';
import type { GatewayError } from './error.ts';
import type {
  HostedCallItem,
  Item,
  MessageItem,
  OpaqueReasoning,
  ReasoningItem,
  ToolCallItem,
} from './item.ts';
import type { JsonValue } from '../base/json/index.ts';
import type { Annotation, Source } from './part.ts';
import type { Usage } from './usage.ts';

/** Why the model stopped. Encoders derive their own word from this and from what was emitted. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'refusal'
  | 'pause'
  | 'unknown';

/** First event of every answer. */
export interface StartEvent {
  readonly type: 'start';
  /** The upstream's id, model name and time (Unix seconds). */
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly created?: number | undefined;
  readonly systemFingerprint?: string | undefined;
  readonly serviceTier?: string | undefined;
}
/** An item begins. Indices are dense from 0 in order of appearance; several items may be open at once. */
export interface OpenEvent {
  readonly type: 'open';
  readonly index: number;
  readonly item: OpenItem;
}
/** The beginning of an item: its content comes in later events. */
export type OpenItem =
  | Pick<MessageItem, 'type' | 'id'>
  | Pick<ReasoningItem, 'type' | 'id' | 'format'>
  | Pick<ToolCallItem, 'type' | 'kind' | 'id' | 'callId' | 'name' | 'namespace' | 'source'>
  | HostedCallItem
  | Extract<Item, { type: 'unknown' | 'compaction' }>;
/** Text of a message item. `part` counts its parts from 0; each part is all text or all refusal. */
export interface TextEvent {
  readonly type: 'text';
  readonly index: number;
  readonly part: number;
  readonly kind: 'text' | 'refusal';
  readonly text: string;
  readonly logprobs?: readonly JsonValue[] | undefined;
}
/** Text of a reasoning item; `part` counts the parts of each kind from 0. `opaque` comes once, when it is complete. */
export interface ReasoningEvent {
  readonly type: 'reasoning';
  readonly index: number;
  readonly kind: 'text' | 'summary';
  readonly part: number;
  readonly text: string;
  readonly opaque?: OpaqueReasoning | undefined;
}
/** A fragment of a tool call's arguments (or of a custom tool's input). */
export interface ArgumentsEvent {
  readonly type: 'arguments';
  readonly index: number;
  readonly text: string;
}
export interface AnnotateEvent {
  readonly type: 'annotate';
  readonly index: number;
  readonly part: number;
  readonly annotation: Annotation;
}
/** The item is complete. `source` is its final raw form where the upstream gives one. */
export interface CloseEvent {
  readonly type: 'close';
  readonly index: number;
  readonly source?: Source | undefined;
  /** Facts of a hosted call. */
  readonly facts?: HostedFacts | undefined;
}
/** Token counts so far; the last one counts. Always before `finish`. */
export interface UsageEvent {
  readonly type: 'usage';
  readonly usage: Usage;
}
/** A piece of a streamed answer of a task besides text. */
export interface PieceEvent {
  readonly type: 'piece';
  /** As the task's own codecs have it. */
  readonly piece: unknown;
  /** Characters that the model wrote in it. */
  readonly chars: number;
}
/** The answer is complete: the last event of a good answer. Exactly one of `finish` and `error` ends a stream. */
export interface FinishEvent {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The upstream's own word. */
  readonly raw?: string | undefined;
  readonly stopSequence?: string | undefined;
  /** Why the upstream refused, in its own word. */
  readonly refusalCategory?: string | undefined;
  /** Members of the upstream's answer as a whole that only its own protocol knows. */
  readonly source?: Source | undefined;
  /** Members of `source` whose loss is reported to other clients, by their names. Absent: none. */
  readonly unreported?: readonly string[] | undefined;
}
export interface ErrorEvent {
  readonly type: 'error';
  readonly error: GatewayError;
}
/** A frame that the decoder does not know. An encoder of the same protocol may pass it on. */
export interface UnknownEvent {
  readonly type: 'unknown';
  readonly source: Source;
}

export type CanonicalEvent =
  | StartEvent
  | OpenEvent
  | TextEvent
  | ReasoningEvent
  | ArgumentsEvent
  | AnnotateEvent
  | CloseEvent
  | UsageEvent
  | PieceEvent
  | FinishEvent
  | ErrorEvent
  | UnknownEvent;

/** Takes events synchronously. Sinks are chained; none may keep a promise per event. */
export interface EventSink {
  on(event: CanonicalEvent): void;
}

/** True for an event that a client would see as part of the answer: the commit point of failover. */
export function isContent(event: CanonicalEvent): boolean {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'arguments':
      return event.text.length > 0 || (event.type === 'reasoning' && event.opaque !== undefined);
    case 'open':
      return event.item.type !== 'message' && event.item.type !== 'reasoning';
    case 'annotate':
    case 'piece':
    case 'finish':
      return true;
    default:
      return false;
  }
}
