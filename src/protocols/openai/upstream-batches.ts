// OpenAI's batch API as an upstream (API reference, "Batch" and "Files", 2026-11).
import { asArray, asObject, type JsonObject } from '../../base/json/index.ts';
import {
  onOneLine,
  type UpstreamBatches,
  type VendorBatch,
  type VendorResult,
} from '../codec/upstream-batches.ts';

/** Member of a batch's metadata with the gateway's token. */
const MARK = 'dragoman';
const PAGE = 100;

export const openaiUpstreamBatches: UpstreamBatches = {
  encodeLine(id, path, body) {
    const head = JSON.stringify({ custom_id: id, method: 'POST', url: `/v1${path}` });
    return `${head.slice(0, -1)},"body":${onOneLine(body)}}`;
  },
  upload(lines, token) {
    const boundary = `dragoman-${token}`;
    const head =
      `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${token}.jsonl"\r\n` +
      'content-type: application/jsonl\r\n\r\n';
    return {
      method: 'POST',
      path: '/files',
      contentType: `multipart/form-data; boundary=${boundary}`,
      body: [head, ...lines.map((line) => `${line}\n`), `\r\n--${boundary}--\r\n`],
    };
  },
  create: ({ file, path, token }) => ({
    method: 'POST',
    path: '/batches',
    body: [
      JSON.stringify({
        input_file_id: file,
        endpoint: `/v1${path}`,
        completion_window: '24h',
        metadata: { [MARK]: token },
      }),
    ],
  }),
  get: (id) => ({ method: 'GET', path: `/batches/${encodeURIComponent(id)}` }),
  cancel: (id) => ({ method: 'POST', path: `/batches/${encodeURIComponent(id)}/cancel` }),
  list: (after) => ({
    method: 'GET',
    path: `/batches?limit=${PAGE}${after === null ? '' : `&after=${encodeURIComponent(after)}`}`,
  }),
  decode,
  decodeList(body) {
    const batches = asArray(body['data']).map((each) => decode(asObject(each)));
    return { batches, after: body['has_more'] === true ? (batches.at(-1)?.id ?? null) : null };
  },
  decodeResult,
};

const ENDED: readonly unknown[] = ['completed', 'expired', 'cancelled'];

function decode(body: JsonObject): VendorBatch {
  const { id, status, metadata, created_at: seconds, output_file_id: output, error_file_id: errors } = body;
  const mark = asObject(metadata)[MARK];
  const total = asObject(body['request_counts'])['total'];
  const [problem] = asArray(asObject(body['errors'])['data']);
  const { message, code } = asObject(problem);
  // The batch would exceed the account's limit of queued tokens.
  const failure = String(code).includes('token_limit') ? 'full' : 'refused';
  return {
    id: String(id),
    state: ENDED.includes(status) ? 'ended' : status === 'failed' ? failure : 'running',
    token: typeof mark === 'string' ? mark : null,
    total: typeof total === 'number' && total > 0 ? total : null,
    createdAt: typeof seconds === 'number' ? seconds * 1000 : 0,
    results: [output, errors].flatMap((file) =>
      typeof file === 'string' ? [`/files/${encodeURIComponent(file)}/content`] : [],
    ),
    problem: status === 'failed' ? (typeof message === 'string' ? message : 'it failed') : null,
  };
}

function decodeResult({ custom_id: lineId, response, error }: JsonObject): VendorResult | null {
  if (typeof lineId !== 'string') return null;
  const { status_code: status, body } = asObject(response);
  if (typeof status === 'number' && body !== undefined) return { lineId, type: 'answered', status, body };
  const { code, message } = asObject(error);
  if (code === 'batch_expired') return { lineId, type: 'expired' };
  if (code === 'batch_cancelled') return { lineId, type: 'cancelled' };
  const shown = {
    message: message ?? 'The line failed.',
    type: 'server_error',
    param: null,
    code: code ?? null,
  };
  return { lineId, type: 'answered', status: 500, body: { error: shown } };
}
