// The records of the ledger: one generation per request, one attempt per upstream try.
import type {
  ErrorKind,
  JsonObject,
  JsonValue,
  ProtocolName,
  ReportEntry,
  RouteTrace,
  Usage,
} from '../canonical/index.ts';

export type Lane = 'relay' | 'translate';

/** What something cost, with the prices it was computed from. */
export interface Cost {
  /** USD; null when a needed price is unknown. */
  readonly usd: number | null;
  /** USD by token class: `input`, `cache_read`, `cache_write_5m`, `cache_write_1h`, `output`, `tools`, `request`. */
  readonly items: Readonly<Record<string, number>>;
  /** The rates used, in USD per million tokens, and their origin; null when no price is known. */
  readonly price: JsonValue;
}

export interface ErrorSummary {
  readonly kind: ErrorKind;
  readonly message: string;
  /** HTTP status that the upstream sent; null when it sent none. */
  readonly upstreamStatus: number | null;
}

export interface AttemptRecord {
  /** Unique for ever: settling the same attempt twice changes nothing. */
  readonly id: string;
  readonly generationId: string;
  /** 0 for the first try. */
  readonly ordinal: number;
  readonly provider: string;
  readonly endpoint: string;
  /** The upstream's name of the model. */
  readonly model: string;
  readonly protocol: ProtocolName;
  readonly lane: Lane;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** First content; null when there was none. */
  readonly firstContentAt: number | null;
  readonly endedAt: number;
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  /** HTTP status of the upstream; null when it never answered. */
  readonly status: number | null;
  /** The upstream's id of its answer, or of the request that it refused; null where it told none. */
  readonly upstreamId: string | null;
  readonly error: ErrorSummary | null;
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

export interface GenerationRecord {
  readonly id: string;
  readonly keyId: string;
  /** The project of the key; the key's own id where it had none. */
  readonly projectId: string;
  /** Hash of the project and of the name by which the request called its end user; null where it named none. */
  readonly endUser: string | null;
  /** `chat.completions`, `responses`, `messages`, … */
  readonly api: string;
  readonly protocol: ProtocolName;
  /** As the client wrote it. */
  readonly requestedModel: string;
  /** The model that ran; null when none did. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly endpoint: string | null;
  readonly lane: Lane | null;
  readonly streamed: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly firstContentAt: number | null;
  readonly endedAt: number;
  /** HTTP status sent to the client. */
  readonly status: number;
  readonly finishReason: string | null;
  /** The upstream's own word. */
  readonly nativeFinishReason: string | null;
  readonly cancelled: boolean;
  readonly attempts: number;
  /** Turns of models in its answer, at least 1: more where tools of the gateway ran between them. */
  readonly turns: number;
  /** Id of the generation whose request was sent again; null where it was its client's own. */
  readonly replayOf: string | null;
  readonly usage: Usage | null;
  /** Sum over the attempts that were charged; null when any of them has an unknown price. */
  readonly cost: Cost | null;
  readonly report: readonly ReportEntry[];
  /** Who was asked in which order, and why; null when it did not come to a decision. */
  readonly route: RouteTrace | JsonObject | null;
  readonly error: ErrorSummary | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Prompt and answer; only when content logging is on for the key. */
  readonly content: { readonly request: JsonValue; readonly answer: JsonValue } | null;
}
