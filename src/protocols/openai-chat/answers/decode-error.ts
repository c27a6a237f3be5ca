// Classifies error answers of Chat Completions servers by status, codes and messages of common servers.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { ContextRefusal, ErrorDetails, ErrorKind } from '../../../canonical/index.ts';
import { asString, isJsonArray, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { contextRefusal, kindByWords } from '../../errors/refusal-words.ts';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../../errors/upstream-error.ts';

/**
 * Classifies an error answer. The upstream's status and bytes are kept in `upstream`.
 * @param status HTTP status, 400 or more
 * @param header reads a response header by lower-case name
 * @param body text of the answer: JSON of any common form, plain text or HTML
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const facts = readFacts(parseJson(body) ?? null, body);
  return build(status, facts, {
    retryAfterMs: retryAfterMs(header),
    upstream: upstreamFailure(status, body, header),
  });
}

/**
 * Returns the error in the body of an answer with status 200, or in a frame of its stream; undefined if there is none.
 * @param event the frame's `event:` field
 */
export function decodeInlineError(body: JsonObject, event = ''): GatewayError | undefined {
  const reported = body['error'];
  const flat = body['object'] === 'error' || event === 'error';
  if ((reported === undefined || reported === null || reported === '' || reported === false) && !flat)
    return undefined;
  const facts = readFacts(body, '');
  // A stream has no status per error, so servers put one into the error.
  const status = facts.status ?? STATUS_OF_WORD.get(facts.code) ?? STATUS_OF_WORD.get(facts.type) ?? 502;
  return build(status, facts, {
    upstream: { status, body: JSON.stringify(body) },
  });
}

interface Facts {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | undefined;
  readonly status: number | undefined;
  readonly failedGeneration?: string | undefined;
  readonly context?: ContextRefusal | undefined;
}

function build(status: number, facts: Facts, details: ErrorDetails): GatewayError {
  const known = classify(status, facts);
  const kind = kindByWords(known, facts);
  const isModels = kind === 'not_found' && known !== kind;
  const message = facts.message || TEXTS.upstreamStatus(status);
  return new GatewayError(kind, message, {
    ...details,
    // LiteLLM's proxy repeats the status as the code.
    code: /^\d*$/.test(facts.code) ? undefined : facts.code,
    param: facts.param ?? (isModels ? 'model' : undefined),
    httpStatus: isModels ? 404 : undefined,
    context: facts.context,
    fault: faultOfKind(kind),
    failedGeneration: facts.failedGeneration,
  });
}

const QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'insufficient_balance',
  'insufficient_credits',
  'exceeded_current_quota_error',
]);
const FILTER_CODES: ReadonlySet<string> = new Set([
  'content_filter',
  'content_policy_violation',
  'ResponsibleAIPolicyViolation',
  'data_inspection_failed',
  'moderation_blocked',
]);
/** Status that corresponds to an error code or type in a stream. */
const STATUS_OF_WORD: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['timeout', 408],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['RateLimitReached', 429],
]);
/** xAI and Google refuse an invalid key with 400. */
const KEY_WORDS: readonly string[] = ['incorrect api key', 'api key not valid'];
const QUOTA_WORDS: readonly string[] = [
  'insufficient balance',
  'exceeded your current quota',
  'insufficient credit',
  'out of credits',
];

function classify(status: number, facts: Facts): ErrorKind {
  const { code, type } = facts;
  if (QUOTA_CODES.has(code) || QUOTA_CODES.has(type)) return 'quota';
  if (FILTER_CODES.has(code) || FILTER_CODES.has(type)) return 'content_filter';
  const words = facts.message.toLowerCase();
  const says = (phrases: readonly string[]): boolean => phrases.some((phrase) => words.includes(phrase));
  switch (status) {
    case 400:
    case 422:
      return code === 'invalid_api_key' || says(KEY_WORDS) ? 'authentication' : 'invalid_request';
    case 429:
      return says(QUOTA_WORDS) ? 'quota' : 'rate_limited';
    default:
      return kindOfStatus(status);
  }
}

/**
 * Reads `{error: {message, type, param, code}}`, `{error: "text"}`, `{message}`, `{detail: "…" | [{msg, loc}]}`, a list
 * of one such object (Google), a string, plain text, and the title of an HTML page.
 */
function readFacts(parsed: JsonValue, text: string): Facts {
  const outer = isJsonArray(parsed) ? (parsed[0] ?? null) : parsed;
  if (typeof outer === 'string')
    return { message: shortMessage(outer), type: '', code: '', param: undefined, status: undefined };
  if (!isJsonObject(outer))
    return { message: readPlainText(text), type: '', code: '', param: undefined, status: undefined };
  const inner = isJsonObject(outer['error']) ? outer['error'] : outer;
  const message =
    asString(inner['message']) ??
    asString(outer['error']) ??
    asString(outer['message']) ??
    readDetail(outer['detail'] ?? outer['details']) ??
    JSON.stringify(outer);
  const code = inner['code'] ?? outer['code'];
  return {
    message: shortMessage(message),
    type: asString(inner['type']) ?? asString(outer['type']) ?? asString(inner['status']) ?? '',
    code: typeof code === 'string' ? code : '',
    param: asString(inner['param']) || undefined,
    failedGeneration: asString(inner['failed_generation']),
    context: contextRefusal(inner),
    status: readStatus(inner['status_code'], code, inner['status'], outer['status']),
  };
}

/** Reads FastAPI's validation errors: a sentence, or a list with the location of each. */
function readDetail(detail: JsonValue | undefined): string | undefined {
  if (typeof detail === 'string') return detail;
  const first = isJsonArray(detail) ? detail[0] : detail;
  if (!isJsonObject(first)) return undefined;
  const message = asString(first['msg']) ?? asString(first['message']);
  if (message === undefined) return undefined;
  const place = isJsonArray(first['loc']) ? first['loc'].join('.') : '';
  return place ? `${place}: ${message}` : message;
}

function readStatus(...candidates: readonly (JsonValue | undefined)[]): number | undefined {
  for (const candidate of candidates) {
    const value = typeof candidate === 'string' ? Number(candidate) : candidate;
    if (typeof value === 'number' && value >= 400 && value < 600) return value;
  }
  return undefined;
}

function readPlainText(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('<')) return shortMessage(trimmed);
  const from = trimmed.indexOf('<title>');
  const to = from < 0 ? -1 : trimmed.indexOf('</title>', from);
  return to < 0
    ? TEXTS.upstreamAnswered('an HTML page')
    : shortMessage(trimmed.slice(from + '<title>'.length, to).trim());
}
