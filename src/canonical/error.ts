// The one error class, its closed list of kinds, and what each kind means. Protocols map kinds to their own
// bodies; the engine's failure table maps them to retry, next candidate or return.
import type { JsonObject } from '../base/json/index.ts';
import type { DurationMs } from '../base/units.ts';

export type ErrorKind =
  | 'invalid_request'
  | 'unsupported'
  | 'authentication'
  | 'permission'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'rate_limited'
  | 'quota'
  | 'context_overflow'
  | 'content_filter'
  | 'tool_unavailable'
  | 'upstream_unavailable'
  | 'timeout'
  | 'cancelled'
  | 'internal';

/** Cause of an error: decides whether another endpoint is worth trying. */
export type Fault = 'client' | 'upstream' | 'gateway';

export interface ErrorFacts {
  /** HTTP status, where the client's protocol has no other for the kind. */
  readonly status: number;
  readonly fault: Fault;
  /** One sentence for `docs/errors.md`: when it happens and what to do. */
  readonly meaning: string;
}

/** Status, fault and meaning of every kind. `docs/errors.md` is generated from this table. */
export const ERROR_KINDS: Readonly<Record<ErrorKind, ErrorFacts>> = {
  invalid_request: {
    status: 400,
    fault: 'client',
    meaning: 'The request is malformed; `param` names the field. Correct it and send it again.',
  },
  unsupported: {
    status: 400,
    fault: 'client',
    meaning:
      'The request asks for something that cannot be served as asked; `param` names it. Remove it, or choose a model that supports it.',
  },
  authentication: {
    status: 401,
    fault: 'client',
    meaning:
      'The API key is missing, unknown, revoked or expired. Send `Authorization: Bearer <key>`; `dragoman keys create` makes one.',
  },
  permission: {
    status: 403,
    fault: 'client',
    meaning:
      'The key is valid but may not do this, for example use this model. Ask the operator to widen the key.',
  },
  not_found: {
    status: 404,
    fault: 'client',
    meaning:
      'No such model, generation, stored object or path for this key. `GET /v1/models` lists the models.',
  },
  conflict: {
    status: 409,
    fault: 'client',
    meaning: 'The request conflicts with one that is running or was made before.',
  },
  too_large: {
    status: 413,
    fault: 'client',
    meaning: 'The body exceeds `server.body_limit_mb`, or a file `files.max_mb`.',
  },
  rate_limited: {
    status: 429,
    fault: 'upstream',
    meaning: 'A rate limit was reached; wait for `retry-after`.',
  },
  quota: {
    status: 402,
    fault: 'upstream',
    meaning:
      'A budget or an upstream account has run out of credit, or the key stores as much as `state.max_mb_per_key` allows.',
  },
  context_overflow: {
    status: 400,
    fault: 'client',
    meaning:
      'The prompt is longer than the context of the model. Shorten it or choose a model with a larger context.',
  },
  content_filter: { status: 400, fault: 'client', meaning: 'The provider refused the content.' },
  tool_unavailable: {
    status: 424,
    fault: 'client',
    meaning:
      'An MCP server that the request names did not list its tools; no model was asked. Correct its address or credentials, or try again. `tools.mcp.on_unlisted: continue` answers without its tools.',
  },
  upstream_unavailable: {
    status: 502,
    fault: 'upstream',
    meaning: 'No endpoint could answer; the message says what each of them did.',
  },
  timeout: {
    status: 504,
    fault: 'upstream',
    meaning: 'Every endpoint was too slow for the configured timeouts.',
  },
  cancelled: { status: 499, fault: 'client', meaning: 'The client closed the connection.' },
  internal: {
    status: 500,
    fault: 'gateway',
    meaning: 'A defect in the gateway. Report it with the request id.',
  },
};

/** Statuses by which an upstream says that the request itself is at fault; other unknown ones are its own or ours. */
const CALLERS_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 431]);

/** True when another endpoint could not do better with the same request. @param status HTTP status of an upstream */
export function isCallersStatus(status: number): boolean {
  return CALLERS_STATUSES.has(status);
}

/** Statuses of servers that have too much to do: HTTP's own, and Anthropic's ("Errors", 2026-11). */
const OVERLOADED_STATUSES: ReadonlySet<number> = new Set([503, 529]);

/** True when whoever was asked is well but has too much to do: most protocols have a word of their own for that. */
export function isOverloaded({ kind, upstream, httpStatus }: GatewayError): boolean {
  const status = upstream?.status ?? httpStatus;
  return kind === 'upstream_unavailable' && status !== undefined && OVERLOADED_STATUSES.has(status);
}

/** The upstream's own words: kept so that the relay lane can pass them on unchanged. */
export interface UpstreamFailure {
  readonly status: number;
  readonly body: string;
  /** The upstream's id of the request; absent where it named none. */
  readonly requestId?: string | undefined;
}

/** Numbers in a server's refusal of a prompt that is too long, in tokens. */
export interface ContextRefusal {
  /** The context of the server; undefined where it names none. */
  readonly limit: number | undefined;
  /** Length of the prompt, by the server's own count; undefined where it names none. */
  readonly prompt: number | undefined;
}

export interface ErrorDetails {
  /** JSON path of the offending field in the client's body, e.g. `messages[2].content`. */
  readonly param?: string | undefined;
  /** Machine-readable code where a protocol has one, e.g. `model_not_found`. */
  readonly code?: string | undefined;
  readonly fault?: Fault | undefined;
  /** Status of the answer where HTTP itself has one for the case, whatever the protocol: 408, 503. */
  readonly httpStatus?: number | undefined;
  /** Milliseconds to wait, from `retry-after-ms` or `retry-after`. */
  readonly retryAfterMs?: DurationMs | undefined;
  /** True: the same request is refused again however long its client waits. */
  readonly isLasting?: boolean | undefined;
  /** True: the limit has no room for such a request even when nothing of it is used. Of a lasting one that is only spent, somebody may raise it. */
  readonly isHopeless?: boolean | undefined;
  /** The methods that the path takes, for a 405. */
  readonly allow?: readonly string[] | undefined;
  readonly upstream?: UpstreamFailure | undefined;
  /** Quantity that a rate limit of the gateway counts. Absent: requests, or unknown. */
  readonly counted?: 'requests' | 'tokens' | undefined;
  /** Facts for machines as Anthropic has them: `error_code`, by which its SDKs recover, and what belongs to it. */
  readonly details?: JsonObject | undefined;
  /** Text that the model wrote in place of a call that parses (Groq's `failed_generation`, with `tool_use_failed`). */
  readonly failedGeneration?: string | undefined;
  /** Absent: the server names no numbers beside its words. */
  readonly context?: ContextRefusal | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('dragoman.GatewayError');

/** Every failure that a client can see. Throw nothing else. */
export class GatewayError extends Error {
  readonly kind: ErrorKind;
  readonly fault: Fault;
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly httpStatus: number | undefined;
  readonly retryAfterMs: DurationMs | undefined;
  readonly isLasting: boolean;
  readonly isHopeless: boolean;
  readonly allow: readonly string[] | undefined;
  readonly upstream: UpstreamFailure | undefined;
  readonly counted: 'requests' | 'tokens' | undefined;
  readonly details: JsonObject | undefined;
  readonly failedGeneration: string | undefined;
  readonly context: ContextRefusal | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'GatewayError';
    this.kind = kind;
    this.fault = details.fault ?? ERROR_KINDS[kind].fault;
    this.param = details.param;
    this.code = details.code;
    this.httpStatus = details.httpStatus;
    this.retryAfterMs = details.retryAfterMs;
    this.isLasting = details.isLasting === true;
    this.isHopeless = details.isHopeless === true;
    this.allow = details.allow;
    this.upstream = details.upstream;
    this.counted = details.counted;
    this.details = details.details;
    this.failedGeneration = details.failedGeneration;
    this.context = details.context;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** HTTP status of the kind. Some protocols have another for it: a client gets that of `encodeError`. */
  get status(): number {
    return this.httpStatus ?? ERROR_KINDS[this.kind].status;
  }

  static is(value: unknown): value is GatewayError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  /** The members that a log line has of it. Only an internal error, which is a defect, has its stack. */
  logFields(): Readonly<Record<string, unknown>> {
    const { kind, message, fault, param, code, cause } = this;
    return {
      kind,
      message,
      fault,
      param,
      code,
      upstreamStatus: this.upstream?.status,
      cause,
      ...(kind === 'internal' ? { stack: this.stack } : {}),
    };
  }

  /** Any thrown value as a GatewayError; foreign ones become `internal` without leaking their text. */
  static from(value: unknown): GatewayError {
    return GatewayError.is(value) ? value : new GatewayError('internal', 'internal error', { cause: value });
  }
}

/** Collects every problem of a request with its JSON path, and throws them as one error. */
export class Problems {
  readonly list: {
    readonly path: string;
    readonly message: string;
    readonly kind: ErrorKind;
    readonly code: string | undefined;
  }[] = [];

  /**
   * Notes a problem.
   * @param path JSON path in the client's body; '' for the body itself
   * @param message what is wrong and what is allowed, without the path
   */
  add(path: string, message: string, kind: ErrorKind = 'invalid_request', code?: string): void {
    // A hostile body can hold thousands of mistakes: the first few are enough to correct it.
    if (this.list.length < 20) this.list.push({ path, message, kind, code });
  }

  get any(): boolean {
    return this.list.length > 0;
  }

  /** Throws one GatewayError that names the first path in `param` and lists all problems in its message. */
  throwIfAny(): void {
    const first = this.list[0];
    if (!first) return;
    const text = this.list.map((p) => (p.path ? `${p.path}: ${p.message}` : p.message)).join('; ');
    throw new GatewayError(first.kind, text, { param: first.path || undefined, code: first.code });
  }
}
