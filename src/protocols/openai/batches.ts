// OpenAI's batches: a file of requests, each with its path, and a file of results (API reference, "Batch", 2026-11).
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import { invalidMember, Problems, TEXTS } from '../../canonical/index.ts';
import type { BatchCodec, BatchLine, LineEnd, ShownBatch } from '../codec/batch-codec.ts';
import { requireBody, requireString } from '../members/read-member.ts';
import { decodeMetadata } from './decode-members.ts';
import type { DurationMs } from '../../base/units.ts';

/** Maximum length of a line's id, in characters. */
const LONGEST_ID = 512;
const HOUR_MS = 3_600_000;
const LONGEST_HOURS = 7 * 24;
/** Seconds, as for uploads. */
const SOONEST_S = 3_600;
const LATEST_S = 2_592_000;

/** Options of a client. */
export interface BatchAsked {
  readonly inputFile: string;
  readonly windowMs: DurationMs;
  readonly facts: JsonObject;
}

/**
 * Decodes the body that creates a batch.
 * @param endpoints paths that its lines can have
 * @throws GatewayError naming every invalid member
 */
export function decodeBatchRequest(given: unknown, endpoints: readonly string[]): BatchAsked {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const inputFile = requireString(body['input_file_id'], 'input_file_id', problems) ?? '';
  const endpoint = requireString(body['endpoint'], 'endpoint', problems) ?? '';
  if (endpoint !== '' && !endpoints.includes(endpoint))
    problems.add('endpoint', TEXTS.mustBeOneOf(endpoints.join(', ')));
  const window = requireString(body['completion_window'], 'completion_window', problems) ?? '';
  const windowMs = windowOf(window);
  if (window !== '' && windowMs === null)
    problems.add('completion_window', 'must be from 1h to 7d, e.g. `24h`');
  const metadata = decodeMetadata(body['metadata'], problems) ?? null;
  const expiry = decodeExpiry(body['output_expires_after'], problems);
  problems.throwIfAny();
  return {
    inputFile,
    windowMs: windowMs ?? HOUR_MS,
    facts: { endpoint, completion_window: window, metadata, ...(expiry && { output_expires_s: expiry }) },
  };
}

function windowOf(text: string): number | null {
  const [, digits, unit] = /^(\d{1,3})([hd])$/.exec(text) ?? [];
  const hours = Number(digits) * (unit === 'd' ? 24 : 1);
  return hours >= 1 && hours <= LONGEST_HOURS ? hours * HOUR_MS : null;
}

function decodeExpiry(value: JsonObject[string] | undefined, problems: Problems): number | undefined {
  if (value === undefined || value === null) return undefined;
  const { anchor, seconds } = typeof value === 'object' ? (value as JsonObject) : {};
  if (anchor !== 'created_at') problems.add('output_expires_after.anchor', 'must be created_at');
  const isFit = typeof seconds === 'number' && Number.isInteger(seconds);
  if (isFit && seconds >= SOONEST_S && seconds <= LATEST_S) return seconds;
  problems.add('output_expires_after.seconds', TEXTS.mustBeInteger(SOONEST_S, LATEST_S));
  return undefined;
}

export const openaiBatches: BatchCodec = {
  idPrefix: 'batch_',
  counts: 'lines',
  splitsErrors: true,
  names: ['custom_id'],
  line: decodeLine,
  encode: encodeBatch,
  encodeResult,
};

function decodeLine(line: JsonObject, { endpoint }: JsonObject): BatchLine {
  const { custom_id: id, method, url, body } = line;
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID)
    throw invalidMember('custom_id', TEXTS.mustBeShort(LONGEST_ID));
  if (method !== undefined && method !== 'POST') throw invalidMember('method', 'must be POST');
  if (typeof url !== 'string' || url !== endpoint)
    throw invalidMember('url', `must be the batch's own endpoint, ${String(endpoint)}`);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidMember('body', TEXTS.mustBeBody);
  return { id, path: url, body: 'body' };
}

function encodeBatch(batch: ShownBatch): JsonObject {
  const { facts, status, counts, tokens, problems, waits } = batch;
  const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));
  const endedAs = (word: string): number | null => (status === word ? seconds(batch.endedAt) : null);
  const shown: MutableJsonObject = {
    id: batch.id,
    object: 'batch',
    endpoint: facts['endpoint'] ?? null,
    errors:
      problems.length === 0 ? null : { object: 'list', data: problems.map((problem) => ({ ...problem })) },
    input_file_id: batch.inputFile,
    completion_window: facts['completion_window'] ?? null,
    status,
    output_file_id: batch.outputFile,
    error_file_id: batch.errorFile,
    created_at: seconds(batch.createdAt),
    in_progress_at: seconds(batch.beganAt),
    expires_at: seconds(batch.deadlineAt),
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: seconds(batch.cancelAt),
    cancelled_at: endedAs('cancelled'),
    request_counts: {
      total: batch.total ?? 0,
      completed: counts.succeeded,
      failed: counts.failed + counts.expired + counts.cancelled,
    },
    usage: {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: tokens.reasoning },
      total_tokens: tokens.input + tokens.output,
    },
    metadata: facts['metadata'] ?? null,
  };
  // Extensions of the gateway.
  if (batch.costUsd !== null) shown['cost'] = batch.costUsd;
  if (waits) shown['waiting'] = { reason: waits.reason, since: seconds(waits.sinceMs) };
  return shown;
}

/** Messages for lines that were not run (API reference, "The request output object"; the second is the gateway's own). */
const NOT_RUN = {
  expired: ['batch_expired', 'This request could not be executed before the completion window expired.'],
  cancelled: ['batch_cancelled', 'This request was not executed, because the batch was cancelled.'],
} as const;

function encodeResult(line: JsonObject | null, number: number, batchId: string, end: LineEnd): string {
  const id = `batch_req_${batchId.slice(batchId.indexOf('_') + 1)}_${number}`;
  const customId = typeof line?.['custom_id'] === 'string' ? line['custom_id'] : null;
  // An extension of the gateway, for lines whose id is unknown.
  const head = { id, custom_id: customId, ...(customId === null && { line: number }) };
  if (end.type === 'answered') {
    const { status, requestId, body } = end;
    const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${body}}`;
    return `${JSON.stringify(head).slice(0, -1)},"response":${response},"error":null}`;
  }
  if (end.type === 'refused') {
    const { code, message, param } = end;
    return JSON.stringify({ ...head, response: null, error: { code, message, param, line: number } });
  }
  const [code, message] = NOT_RUN[end.type];
  return JSON.stringify({ ...head, response: null, error: { code, message } });
}
