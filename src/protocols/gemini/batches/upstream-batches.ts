// Gemini's batch API as an upstream: requests are in the body that creates a batch, and results in the batch itself
// (API reference, "Batch API", 2026-11).
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../base/json/index.ts';
import { RPC_CODES } from '../../google/rpc-codes.ts';
import {
  onOneLine,
  type UpstreamBatches,
  type VendorBatch,
  type VendorResult,
} from '../../codec/upstream-batches.ts';

/** Guide "Batch API": 20 MB for requests in the body. The envelope of each line uses part of it. */
const MOST_BYTES = 18_000_000;
const PAGE = 100;
/** Members of an operation, without the copy of its results. */
const MEMBERS = 'name,done,error,metadata';
/** Number of `google.rpc.Code` for exhausted resources. */
const NO_ROOM = 8;
const CANCELLED = 1;

export const geminiUpstreamBatches: UpstreamBatches = {
  answersOnly: true,
  mostBytes: MOST_BYTES,
  resultsIn: ['metadata', 'output', 'inlinedResponses', 'inlinedResponses'],
  encodeLine: (id, _path, body) => `{"request":${onOneLine(body)},"metadata":${JSON.stringify({ key: id })}}`,
  create: ({ lines, path, token }) => ({
    method: 'POST',
    path: path.replace(/:generateContent$/, ':batchGenerateContent'),
    body: [
      `{"batch":{"displayName":${JSON.stringify(token)},"inputConfig":{"requests":{"requests":[`,
      ...lines.map((line, index) => (index === 0 ? line : `,${line}`)),
      ']}}}}',
    ],
  }),
  get: (id) => ({ method: 'GET', path: `${pathOf(id)}?fields=${MEMBERS}` }),
  cancel: (id) => ({ method: 'POST', path: `${pathOf(id)}:cancel` }),
  list: (after) => ({
    method: 'GET',
    path: `/batches?pageSize=${PAGE}&fields=nextPageToken,operations(${MEMBERS})${
      after === null ? '' : `&pageToken=${encodeURIComponent(after)}`
    }`,
  }),
  decode,
  decodeList({ operations, nextPageToken }) {
    return {
      batches: asArray(operations).map((each) => decode(asObject(each))),
      after: asString(nextPageToken) || null,
    };
  },
  decodeResult,
};

const COLLECTION = 'batches/';

function pathOf(id: string): string {
  return `/${COLLECTION}${encodeURIComponent(id)}`;
}

/** States after `BATCH_STATE_`. All others mean that it has not ended. */
const STATES: Readonly<Record<string, VendorBatch['state']>> = {
  SUCCEEDED: 'ended',
  CANCELLED: 'ended',
  // An expired batch has no results.
  EXPIRED: 'ended',
  FAILED: 'refused',
};
const UNANSWERED: Readonly<Record<string, VendorBatch['unanswered']>> = {
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
};

/** @param body an operation, whose metadata is the batch */
function decode({ name, metadata, error }: JsonObject): VendorBatch {
  const { displayName, state, createTime, batchStats } = asObject(metadata);
  const word = (asString(state) ?? '').replace(/^.*_/, '');
  const { code, message } = asObject(error);
  const known = STATES[word] ?? 'running';
  const total = Number(asObject(batchStats)['requestCount']);
  return {
    id: (asString(name) ?? '').replace(COLLECTION, ''),
    state: known === 'refused' && code === NO_ROOM ? 'full' : known,
    token: asString(displayName) ?? '',
    total: total > 0 ? total : null,
    createdAt: Date.parse(asString(createTime) ?? '') || 0,
    results: [],
    unanswered: UNANSWERED[word],
    problem: known === 'refused' ? (asString(message) ?? 'it failed') : null,
  };
}

function decodeResult({ metadata, response, error }: JsonObject): VendorResult | null {
  const lineId = asString(asObject(metadata)['key']);
  if (lineId === undefined) return null;
  if (response !== undefined) return { lineId, type: 'answered', status: 200, body: response };
  if (error === undefined) return null;
  const { code, message } = asObject(error);
  if (code === CANCELLED) return { lineId, type: 'cancelled' };
  const known = RPC_CODES.find((each) => each.code === asNumber(code));
  const { status = 500, word = 'UNKNOWN' } = known ?? {};
  const shown = { code: status, message: message ?? 'The request failed.', status: word };
  return { lineId, type: 'answered', status, body: { error: shown } };
}
