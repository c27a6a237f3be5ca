// One request from admission to its record: what was asked, what was tried, who served.
import type {
  CanonicalRequest,
  CollectedEvents,
  GatewayError,
  Item,
  JsonValue,
  Usage,
  RouteTrace,
} from '../canonical/index.ts';
import { addUsage, NO_USAGE, Report } from '../canonical/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import type { Cost, GenerationRecord } from '../ledger/index.ts';
import { sumCosts } from '../ledger/index.ts';
import { withoutCredentials } from '../protocols/index.ts';
import { type Attempt, summariseError } from './attempt/index.ts';
import type { ApiCall } from './call.ts';
import type { FetchedMedia, ReadDocuments } from './media/index.ts';
import type { ToolUses } from './tools/index.ts';
import type { EngineSettings, Timeouts } from './settings.ts';

/** Longest model name that is kept of a request that named nonsense, in characters. */
const MAX_MODEL_CHARS = 256;
/** Largest prompt or answer kept by content logging, in characters of JSON. */
const MAX_CONTENT_CHARS = 1_000_000;

/** A model that ends its turn without a word still counts a few tokens for it. */
const EMPTY_ANSWER_TOKENS = 10;

export class Generation {
  readonly id: string;
  readonly call: ApiCall;
  readonly settings: EngineSettings;
  /** Unix milliseconds. */
  readonly createdAt: number;
  deadlineAt: number;
  timeouts: Timeouts;
  readonly attempts: Attempt[] = [];
  /** The canonical request, once it was decoded. */
  request: CanonicalRequest | undefined;
  /** The attempt whose answer the client gets; of an answer of several turns the last one. */
  served: Attempt | undefined;
  /** The attempts of the turns before, in order: tools of the gateway ran in between. */
  readonly earlier: Attempt[] = [];
  /** What the model said in the last of several turns, without its calls of the gateway's tools; undefined for one turn. */
  lastTurn: readonly Item[] | undefined;
  /** What the gateway's own tools were used for, by name, and what that cost; null while nothing was. */
  toolUses: ToolUses | null = null;
  report = new Report();
  /** What the answer was, when content is logged. */
  answer: JsonValue = null;
  cancelled = false;
  /** True when the client has already read of the failure, in the upstream's own words. */
  told = false;
  /** What the client got, where the relay lane passed it by; the translate lane knows it itself. */
  relayed: CollectedEvents | undefined;
  /** True when the request was completed by what the gateway keeps. */
  rewritten = false;
  /** What was fetched for endpoints that take no addresses. */
  readonly fetched: FetchedMedia = new Map();
  /** What was read of files for endpoints that take none. */
  readonly documents: ReadDocuments = new Map();
  /** True while no other turn of the conversation may begin. */
  holdsConversation = false;
  /** The decision, as the record keeps it; null until there is one. */
  route: RouteTrace | null = null;
  /** Characters of the body: how large the request is, where routing asks before anybody reads it. */
  readonly inputChars: number;
  /** True: a parameter that would be dropped or changed is a 400. */
  strict = false;

  constructor(id: string, call: ApiCall, settings: EngineSettings, nowMs: number) {
    this.id = id;
    this.call = call;
    this.settings = settings;
    this.inputChars = call.body.length;
    this.createdAt = nowMs;
    this.timeouts = settings.config.routing.timeouts;
    this.deadlineAt = nowMs + settings.config.routing.timeouts.totalMs;
  }

  /**
   * True when the answer may not be relayed: the client's own bytes lack what was completed from storage or mix several
   * protocols, or the client asked for a form that upstreams are never asked for.
   */
  get needsTranslation(): boolean {
    return this.rewritten || this.request?.hybrid === true || this.call.route?.streamAsArray === true;
  }

  /** True when the answer itself is needed after it was sent: for storage, for the log, or for the vault. */
  keeps(endpoint: Endpoint): boolean {
    return this.keepsTurn || this.needsEvents(endpoint);
  }

  /** True when the turn is remembered: as a response, in a conversation, or for the client's connection. */
  get keepsTurn(): boolean {
    const { request, call } = this;
    const state = call.protocol.server.items && request?.state;
    return (
      call.memory !== undefined ||
      state?.store === true ||
      (state && state.conversationId !== undefined) === true
    );
  }

  /** True when the events of the answer are needed also where it was relayed: for the log or for the vault. */
  needsEvents(endpoint: Endpoint): boolean {
    const { request, call } = this;
    if (call.principal.logContent) return true;
    return request !== undefined && request.tools.length > 0 && endpoint.reasoningFormat !== null;
  }

  /** Shortens the time that the request may take. */
  limit(timeouts: Timeouts): void {
    this.timeouts = timeouts;
    this.deadlineAt = this.createdAt + timeouts.totalMs;
  }

  /** Lets go of the client's body: a stream may live for minutes after the last endpoint that could need it. */
  release(): void {
    this.call.body = '';
    if (!this.call.principal.logContent) this.call.json = undefined;
  }

  /**
   * Headers that every answer carries.
   * @param described the attempt they speak of; undefined while it is not known who will serve
   */
  headers(described: Attempt | undefined = this.served): Record<string, string> {
    const { id } = this;
    const attempts = String(this.attempts.length);
    const headers: Record<string, string> = described
      ? {
          'x-request-id': id,
          'request-id': id,
          'x-dragoman-attempts': attempts,
          'x-dragoman-provider': described.endpoint.provider,
          'x-dragoman-model': headerText(described.endpoint.modelId),
          'x-dragoman-lane': described.lane,
        }
      : { 'x-request-id': id, 'request-id': id, 'x-dragoman-attempts': attempts };
    if (this.report.size > 0) headers['x-dragoman-report'] = headerText(this.report.header());
    return headers;
  }

  /**
   * What the request costs so far, in USD: earlier tries may have been charged as well. undefined when a needed price
   * is unknown: answers leave it out then, because strict clients take a number or nothing.
   */
  costUsd(): number | undefined {
    const [only] = this.attempts;
    if (only && this.attempts.length === 1 && !this.toolUses) return only.charge().cost?.usd ?? undefined;
    return sumCosts(this.#costs()).usd ?? undefined;
  }

  /** What was charged: by each attempt, and for the gateway's own tools. */
  #costs(): Cost[] {
    const costs = this.attempts.map((attempt) => attempt.charge().cost).filter((cost) => cost !== null);
    if (this.toolUses) costs.push(this.toolUses.cost);
    return costs;
  }

  /**
   * The counts of all turns of the answer; undefined when nothing was counted.
   * @param last those of the last turn, as far as they are known
   */
  usage(last: Usage | null | undefined): Usage | undefined {
    if (this.earlier.length === 0 && !this.toolUses) return last ?? undefined;
    const turns = this.earlier.map((attempt) => attempt.charge().usage);
    const own = this.toolUses && { ...NO_USAGE, tools: this.toolUses.uses };
    return addUsage([...turns, last, own].filter((usage) => usage !== null && usage !== undefined));
  }

  /**
   * The record of this generation.
   * @param status HTTP status sent to the client
   */
  record(status: number, endedAtMs: number, error: GatewayError | undefined): GenerationRecord {
    const { call, request } = this;
    const served = this.served ?? this.earlier.at(-1);
    const requestedModel =
      typeof request?.model === 'string' ? request.model : (call.route?.model ?? modelOf(call.json));
    const costs = this.#costs();
    const finish = served?.meter.finish ?? null;
    return {
      id: this.id,
      keyId: call.principal.keyId,
      api: call.api,
      protocol: call.protocol.name,
      requestedModel: requestedModel.slice(0, MAX_MODEL_CHARS),
      model: served?.endpoint.modelId ?? null,
      provider: served?.endpoint.provider ?? null,
      endpoint: served?.endpoint.slug ?? null,
      lane: served?.lane ?? null,
      streamed: request?.stream ?? false,
      createdAt: this.createdAt,
      firstContentAt: (this.earlier[0] ?? served)?.meter.firstContentAt ?? null,
      endedAt: endedAtMs,
      status,
      finishReason: finish?.reason ?? null,
      nativeFinishReason: finish?.raw ?? null,
      cancelled: this.cancelled,
      attempts: this.attempts.length,
      usage: this.usage(this.served?.charge().usage) ?? null,
      // The usual single attempt shares its object with the record: it is stored once.
      cost: costs.length > 1 ? sumCosts(costs) : (costs[0] ?? null),
      report: this.report.entries,
      route: this.route,
      error: summariseError(error),
      metadata: request?.metadata ?? null,
      content: call.principal.logContent
        ? { request: bounded(withoutCredentials(call.json as JsonValue)), answer: bounded(this.answer) }
        : null,
    };
  }

  /** Facts for the log when tokens were charged for nothing that a client can see: legal, but worth a look. */
  paidForNothing(): { id: string; endpoint: string; tokens: number } | null {
    const { id, served } = this;
    const tokens = served?.charge().usage?.output.text ?? 0;
    return served?.meter.isEmpty && tokens >= EMPTY_ANSWER_TOKENS
      ? { id, endpoint: served.endpoint.slug, tokens }
      : null;
  }

  /** Keeps the answer for the record, in the client's own protocol. */
  keepAnswer(events: CollectedEvents): void {
    if (!this.request) return;
    this.answer = this.call.protocol.server.encodeResponse(events, {
      id: this.id,
      createdSeconds: Math.floor(this.createdAt / 1000),
      model: this.served?.endpoint.modelId ?? this.request.model,
      request: this.request,
      reasoningContentMirror: false,
    });
  }
}

function modelOf(json: unknown): string {
  const model = typeof json === 'object' && json !== null ? (json as { model?: unknown }).model : undefined;
  return typeof model === 'string' ? model : '';
}

function bounded(value: JsonValue): JsonValue {
  const text = JSON.stringify(value ?? null);
  return text.length <= MAX_CONTENT_CHARS
    ? value
    : { truncated: true, chars: text.length, start: text.slice(0, MAX_CONTENT_CHARS) };
}

/** Models and fields may have names in any script; a header takes visible ASCII only. */
export function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 4000);
}
