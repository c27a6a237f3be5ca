// Events of an answer while it arrives. Decoders push them, encoders consume them. A non-streamed answer is the same list,
// pushed in one go.
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

/**
 * Reason why the model stopped. Encoders derive their own word from it and from the emitted items. `incomplete`: the
 * upstream reports an answer that is not complete, for a reason that no other word covers.
 */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'incomplete'
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
/** An item without its content, which follows in later events. */
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
/** The item is complete. `source` is its final raw form, if the upstream sends one. */
export interface CloseEvent {
  readonly type: 'close';
  readonly index: number;
  readonly source?: Source | undefined;
  /** Facts of a hosted call. */
  readonly facts?: HostedFacts | undefined;
  /** Names of members of `source` whose loss is reported to clients of other protocols. Absent: none. */
  readonly unreported?: readonly string[] | undefined;
}
/** Token counts so far; the last one counts. Always before `finish`. */
export interface UsageEvent {
  readonly type: 'usage';
  readonly usage: Usage;
}
/** A piece of a streamed answer of a task other than text. */
export interface PieceEvent {
  readonly type: 'piece';
  /** The piece in the form of the task's own codecs. */
  readonly piece: unknown;
  /** Number of characters that the model wrote. */
  readonly chars: number;
}
/** The answer is complete. Exactly one of `finish` and `error` ends a stream. */
export interface FinishEvent {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The upstream's own finish reason. */
  readonly raw?: string | undefined;
  readonly stopSequence?: string | undefined;
  /** Service tier of the answer, if the start event did not have it. */
  readonly serviceTier?: string | undefined;
  /** The upstream's own category of a refusal. */
  readonly refusalCategory?: string | undefined;
  /** Top-level members of the upstream's answer that exist only in its own protocol. */
  readonly source?: Source | undefined;
  /** Names of members of `source` whose loss is reported to clients of other protocols. Absent: none. */
  readonly unreported?: readonly string[] | undefined;
}
export interface ErrorEvent {
  readonly type: 'error';
  readonly error: GatewayError;
}
/**
 * A piece of an open item that only the upstream's own protocol has, such as a delta of an undocumented type. Encoders of
 * the same protocol pass it on.
 */
export interface ExtraEvent {
  readonly type: 'extra';
  readonly index: number;
  /** Part of a message item, as in its text; 0 for other items. */
  readonly part: number;
  readonly source: Source;
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
  | ExtraEvent
  | UnknownEvent;

/** Consumes events synchronously. Sinks are chained; none may keep a promise per event. */
export interface EventSink {
  on(event: CanonicalEvent): void;
}

/** Returns the start event with what only the end of the answer told. */
export function startKnownAt({ serviceTier }: FinishEvent, start: StartEvent): StartEvent {
  return serviceTier === undefined ? start : { ...start, serviceTier };
}

/** True for an event that is visible to a client as part of the answer. After it, failover is no longer possible. */
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
