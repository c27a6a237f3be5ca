// Lines of Gemini's batches: `{"key", "request"}` in a file, `{"request", "metadata"}` in a body. Results repeat both.
import { asObject, isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import { GatewayError, invalidMember, TEXTS } from '../../../canonical/index.ts';
import { encodeErrorBody } from '../../google/encode-error.ts';
import { RPC_CODES } from '../../google/rpc-codes.ts';
import type { BatchLine, LineEnd, UnansweredEnd } from '../../codec/batch-codec.ts';
import { methodOf } from './methods.ts';

/** Maximum length of a line's `key`, in characters. */
const LONGEST_KEY = 512;

/** Decodes a line. Its own model takes precedence over the batch's. */
export function decodeLine({ key, request, metadata }: JsonObject, facts: JsonObject): BatchLine {
  if (
    key !== undefined &&
    key !== null &&
    (typeof key !== 'string' || key === '' || key.length > LONGEST_KEY)
  )
    throw invalidMember('key', TEXTS.mustBeShort(LONGEST_KEY));
  if (metadata !== undefined && metadata !== null && !isJsonObject(metadata))
    throw invalidMember('metadata', 'must be an object');
  if (!isJsonObject(request)) throw invalidMember('request', TEXTS.mustBeBody);
  const { model = facts['model'] } = request;
  if (typeof model !== 'string' || model === '')
    throw invalidMember('request.model', 'must be the id of a model');
  const path = `/v1beta/models/${modelId(model)}:${methodOf(facts).asks}`;
  return { id: typeof key === 'string' ? key : null, path, body: 'request' };
}

/** Returns the id of a model without its collection. */
export function modelId(name: string): string {
  return name.replace(/^models\//, '');
}

export function encodeResult(
  line: JsonObject | null,
  number: number,
  _batchId: string,
  end: LineEnd,
): string {
  // The number of a line that cannot be read is an extension of the gateway.
  const { key, metadata }: JsonObject = line ?? { metadata: { line: number } };
  const named = { ...(key !== undefined && { key }), ...(metadata !== undefined && { metadata }) };
  const head = JSON.stringify(named).slice(0, -1);
  const isGood = end.type === 'answered' && end.status < 400;
  const result = isGood ? `"response":${end.body}` : `"error":${JSON.stringify(statusOf(end))}`;
  return `${head}${head === '{' ? '' : ','}${result}}`;
}

/** Number of `google.rpc.Code` for errors without another. */
const UNKNOWN = 2;

/** Returns the google.rpc.Status of a failed line. Google's Python library refuses objects as details. */
function statusOf(end: LineEnd): JsonObject {
  const { error } = end.type === 'answered' ? asObject(JSON.parse(end.body) as JsonObject) : bodyOf(end);
  const { status, message } = asObject(error);
  const code = RPC_CODES.find(({ word }) => word === status)?.code ?? UNKNOWN;
  return { code, message: message ?? '' };
}

function bodyOf(end: UnansweredEnd): JsonObject {
  if (end.type === 'refused')
    return encodeErrorBody(new GatewayError('invalid_request', end.message, { code: end.code }), '');
  const error =
    end.type === 'expired'
      ? new GatewayError('timeout', 'The batch expired before this request was run.')
      : new GatewayError('cancelled', 'The batch was cancelled before this request was run.');
  return encodeErrorBody(error, '');
}
