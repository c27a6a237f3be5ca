// Anthropic's Message Batches: requests in one body, and their results in one file (according to its libraries,
// 2026-11).
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, invalidMember, TEXTS } from '../../canonical/index.ts';
import type { BatchCodec, BatchLine, LineEnd, RequiredIds, ShownBatch } from '../codec/batch-codec.ts';
import { encodeError } from './answers/encode-error.ts';
import type { UnixMs } from '../../base/units.ts';

// The vendor refuses a batch with an invalid id when it is created (anthropic-sdk-python issue 984, June 2025). The rest of
// a request is checked later.
const IDS: RequiredIds = {
  member: 'custom_id',
  pattern: /^[a-zA-Z0-9_-]{1,64}$/,
  rule: 'must be 1 to 64 letters, digits, hyphens and underscores',
};

export const messageBatches: BatchCodec = {
  idPrefix: 'msgbatch_',
  counts: 'requests',
  splitsErrors: false,
  names: ['custom_id'],
  requiredIds: IDS,
  line: decodeLine,
  encode: encodeBatch,
  encodeResult,
};

function decodeLine({ custom_id: id, params }: JsonObject): BatchLine {
  if (typeof id !== 'string' || !IDS.pattern.test(id)) throw invalidMember('custom_id', IDS.rule);
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw invalidMember('params', TEXTS.mustBeBody);
  return { id, path: '/v1/messages', body: 'params' };
}

function encodeBatch(batch: ShownBatch, isoOf: (ms: UnixMs) => string): JsonObject {
  const { id, facts, counts, endedAt, cancelAt } = batch;
  const time = (ms: number | null): string | null => (ms === null ? null : isoOf(ms));
  const hasEnded = endedAt !== null;
  return {
    id,
    type: 'message_batch',
    processing_status: hasEnded ? 'ended' : cancelAt === null ? 'in_progress' : 'canceling',
    // Like Anthropic's own, the counts change only when the whole batch has ended.
    request_counts: {
      processing: hasEnded ? 0 : (facts['requests'] ?? 0),
      succeeded: hasEnded ? counts.succeeded : 0,
      errored: hasEnded ? counts.failed : 0,
      canceled: hasEnded ? counts.cancelled : 0,
      expired: hasEnded ? counts.expired : 0,
    },
    created_at: time(batch.createdAt),
    expires_at: time(batch.deadlineAt),
    cancel_initiated_at: time(cancelAt),
    ended_at: time(endedAt),
    archived_at: null,
    results_url: hasEnded ? `/v1/messages/batches/${id}/results` : null,
  };
}

function encodeResult(line: JsonObject | null, number: number, _batchId: string, end: LineEnd): string {
  const id = line?.['custom_id'];
  // `line` is an extension of the gateway, for requests whose id is unknown.
  const named = typeof id === 'string' ? { custom_id: id } : { custom_id: null, line: number };
  const head = JSON.stringify(named).slice(0, -1);
  return `${head},"result":${resultOf(end)}}`;
}

function resultOf(end: LineEnd): string {
  if (end.type === 'expired') return '{"type":"expired"}';
  if (end.type === 'cancelled') return '{"type":"canceled"}';
  if (end.type === 'refused') {
    const { code, message, param } = end;
    const details = { code, ...(param !== null && { param }) };
    const { body } = encodeError(new GatewayError('invalid_request', message, details), '');
    return `{"type":"errored","error":${JSON.stringify(body)}}`;
  }
  return end.status < 400
    ? `{"type":"succeeded","message":${end.body}}`
    : `{"type":"errored","error":${end.body}}`;
}
