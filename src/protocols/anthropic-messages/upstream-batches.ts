// Anthropic's Message Batches as an upstream (API reference, "Message Batches", 2026-11). They have no metadata, so a
// batch is found again by the ids of its lines.
import { asArray, asObject, type JsonObject } from '../../base/json/index.ts';
import {
  onOneLine,
  type UpstreamBatches,
  type VendorBatch,
  type VendorResult,
} from '../codec/upstream-batches.ts';

const PATH = '/v1/messages/batches';
const PAGE = 100;

export const anthropicUpstreamBatches: UpstreamBatches = {
  encodeLine: (id, _path, body) => `{"custom_id":${JSON.stringify(id)},"params":${onOneLine(body)}}`,
  create: ({ lines }) => ({
    method: 'POST',
    path: PATH,
    body: ['{"requests":[', ...lines.map((line, index) => (index === 0 ? line : `,${line}`)), ']}'],
  }),
  get: (id) => ({ method: 'GET', path: `${PATH}/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ method: 'POST', path: `${PATH}/${encodeURIComponent(id)}/cancel` }),
  list: (after) => ({
    method: 'GET',
    path: `${PATH}?limit=${PAGE}${after === null ? '' : `&after_id=${encodeURIComponent(after)}`}`,
  }),
  decode,
  decodeList(body) {
    const batches = asArray(body['data']).map((each) => decode(asObject(each)));
    return { batches, after: body['has_more'] === true ? (batches.at(-1)?.id ?? null) : null };
  },
  decodeResult,
};

function decode(body: JsonObject): VendorBatch {
  const { id, processing_status: status, created_at: created } = body;
  const counts = Object.values(asObject(body['request_counts']));
  const total = counts.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
  const hasEnded = status === 'ended';
  return {
    id: String(id),
    state: hasEnded ? 'ended' : 'running',
    token: null,
    total: total > 0 ? total : null,
    createdAt: typeof created === 'string' ? Date.parse(created) || 0 : 0,
    results: hasEnded ? [`${PATH}/${encodeURIComponent(String(id))}/results`] : [],
    problem: null,
  };
}

/** HTTP status of each error type (API reference, "Errors"). */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

function decodeResult({ custom_id: lineId, result }: JsonObject): VendorResult | null {
  if (typeof lineId !== 'string') return null;
  const { type, message, error } = asObject(result);
  if (type === 'succeeded' && message !== undefined)
    return { lineId, type: 'answered', status: 200, body: message };
  if (type === 'expired') return { lineId, type: 'expired' };
  if (type === 'canceled') return { lineId, type: 'cancelled' };
  if (type !== 'errored' || error === undefined) return null;
  const kind = asObject(asObject(error)['error'])['type'];
  return { lineId, type: 'answered', status: STATUSES[String(kind)] ?? 500, body: error };
}
