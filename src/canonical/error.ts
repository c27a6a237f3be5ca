// The error class of the gateway, and the closed list of its kinds. Each protocol maps kinds to its own error bodies. The
// engine's failure table maps them to an action: retry, next candidate or return.
import { TEXTS } from './texts.ts';
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

/** Cause of an error. It decides whether another endpoint is tried. */
export type Fault = 'client' | 'upstream' | 'gateway';

export interface ErrorFacts {
  /** HTTP status, unless the client's protocol defines another for this kind. */
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
    meaning: 'The request is invalid. Correct the field that `param` names and send the request again.',
  },
  unsupported: {
    status: 400,
    fault: 'client',
    meaning:
      'The model or its provider does not support a part of the request. Remove the field that `param` names, or choose a model that supports it.',
  },
  authentication: {
    status: 401,
    fault: 'client',
    meaning:
      'The API key is missing, unknown, revoked or expired. Send `Authorization: Bearer <key>`; `dragoman keys create NAME` creates a key.',
  },
  permission: {
    status: 403,
    fault: 'client',
    meaning:
      'The key is valid but lacks a permission, for example for this model. Ask the operator to grant it.',
  },
  not_found: {
    status: 404,
    fault: 'client',
    meaning:
      'The model, generation, stored object or path does not exist for this key. `GET /v1/models` lists the models.',
  },
  conflict: {
    status: 409,
    fault: 'client',
    meaning: 'The request conflicts with a running or earlier request.',
  },
  too_large: {
    status: 413,
    fault: 'client',
    meaning: 'The body exceeds `server.body_limit_mb`, or a file exceeds `files.max_mb`.',
  },
  rate_limited: {
    status: 429,
    fault: 'upstream',
    meaning: 'A rate limit was reached. Wait for the time in `retry-after`.',
  },
  quota: {
    status: 402,
    fault: 'upstream',
    meaning:
      'A budget or an upstream account has no credit left, or the key has reached its storage limit (`state.max_mb_per_key`).',
  },
  context_overflow: {
    status: 400,
    fault: 'client',
    meaning:
      'The prompt exceeds the context window of the model. Shorten it, or choose a model with a larger context window.',
  },
  content_filter: { status: 400, fault: 'client', meaning: 'The provider refused the content.' },
  tool_unavailable: {
    status: 424,
    fault: 'client',
    meaning:
      'An MCP server of the request did not list its tools, so no model was called. Correct its address or credentials, or try again. With `tools.mcp.on_unlisted: continue`, requests continue without its tools.',
  },
  upstream_unavailable: {
    status: 502,
    fault: 'upstream',
    meaning: 'No endpoint could serve the request. The message lists the failure of each endpoint.',
  },
  timeout: {
    status: 504,
    fault: 'upstream',
    meaning: 'Every endpoint exceeded a configured timeout.',
  },
  cancelled: { status: 499, fault: 'client', meaning: 'The client closed the connection.' },
  internal: {
    status: 500,
    fault: 'gateway',
    meaning: 'The gateway has a defect. Report it with the request id.',
  },
};

/** Upstream statuses that blame the request itself. */
const CALLERS_STATUSES: ReadonlySet<number> = new Set([400, 413, 415, 422, 431]);

/** True if another endpoint would refuse the same request as well. @param status HTTP status of an upstream */
export function isCallersStatus(status: number): boolean {
  return CALLERS_STATUSES.has(status);
}

/** Statuses of overloaded servers: HTTP's, and Anthropic's ("Errors", 2026-11). */
const OVERLOADED_STATUSES: ReadonlySet<number> = new Set([503, 529]);

/** True if the upstream is healthy but overloaded. Most protocols have an error type of their own for that. */
export function isOverloaded({ kind, upstream, httpStatus }: GatewayError): boolean {
  const status = upstream?.status ?? httpStatus;
  return kind === 'upstream_unavailable' && status !== undefined && OVERLOADED_STATUSES.has(status);
}

/** An upstream's error response, kept so that the relay lane can pass it on unchanged. */
export interface UpstreamFailure {
  readonly status: number;
  readonly body: string;
  /** The upstream's request id; absent if it sent none. */
  readonly requestId?: string | undefined;
}

/** Token counts in an upstream's error about a prompt that is too long. */
export interface ContextRefusal {
  /** Context length of the server; undefined if it is not stated. */
  readonly limit: number | undefined;
  /** Length of the prompt as counted by the server; undefined if it is not stated. */
  readonly prompt: number | undefined;
}

export interface ErrorDetails {
  /** JSON path of the offending field in the client's body, e.g. `messages[2].content`. */
  readonly param?: string | undefined;
  /** Machine-readable code, if the protocol has one, e.g. `model_not_found`. */
  readonly code?: string | undefined;
  readonly fault?: Fault | undefined;
  /** HTTP status that overrides that of the kind in every protocol: 408, 503. */
  readonly httpStatus?: number | undefined;
  /** Milliseconds to wait, from `retry-after-ms` or `retry-after`. */
  readonly retryAfterMs?: DurationMs | undefined;
  /** True: waiting does not help; the same request will be refused again. */
  readonly isLasting?: boolean | undefined;
  /** True: the request exceeds the limit even if nothing of it is used. False for a spent budget, which an admin can raise. */
  readonly isHopeless?: boolean | undefined;
  /** Methods that the path allows, for a 405. */
  readonly allow?: readonly string[] | undefined;
  readonly upstream?: UpstreamFailure | undefined;
  /** Unit of the gateway's rate limit. Absent: requests, or unknown. */
  readonly counted?: 'requests' | 'tokens' | undefined;
  /** Machine-readable details as in Anthropic's errors: `error_code`, which its SDKs use to recover, and its data. */
  readonly details?: JsonObject | undefined;
  /** Text that the model wrote instead of a valid tool call (Groq's `failed_generation`, with `tool_use_failed`). */
  readonly failedGeneration?: string | undefined;
  /** Absent: the server states no token counts. */
  readonly context?: ContextRefusal | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('dragoman.GatewayError');

/** An error that a client can see. Throw nothing else. */
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

  /** HTTP status of the kind. Some protocols use another one, which `encodeError` gives. */
  get status(): number {
    return this.httpStatus ?? ERROR_KINDS[this.kind].status;
  }

  static is(value: unknown): value is GatewayError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }

  /** Fields for a log line. Only internal errors, which are defects, include a stack. */
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

  /** Converts any thrown value. Other errors become `internal`, without exposing their text. */
  static from(value: unknown): GatewayError {
    return GatewayError.is(value) ? value : new GatewayError('internal', TEXTS.internal, { cause: value });
  }
}

/** Collects the problems of a request with their JSON paths, and throws them as one error. */
export class Problems {
  readonly list: {
    readonly path: string;
    readonly message: string;
    readonly kind: ErrorKind;
    readonly code: string | undefined;
  }[] = [];

  /**
   * Adds a problem.
   * @param path JSON path in the client's body; '' for the body itself
   * @param message what is wrong and what is allowed, without the path
   */
  add(path: string, message: string, kind: ErrorKind = 'invalid_request', code?: string): void {
    // A hostile body can contain thousands of mistakes. The first 20 are enough to correct it.
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

/**
 * Error for an id that the project does not have.
 * @param what begins the sentence, e.g. `Response`
 * @param param member or path that has the id
 */
export function notFound(what: string, id: string, param?: string): GatewayError {
  return new GatewayError('not_found', TEXTS.notFound(what, id), { param });
}

/**
 * Error of a request with an invalid member.
 * @param param path of the member, which the message begins with
 */
export function invalidMember(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
