// Failures that an interaction tells of itself: an `error` event, or the status `failed`.
import type { JsonObject } from '../../base/json/index.ts';
import { asArray, asObject, asString } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { decodeInlineError } from '../google/decode-error.ts';
import { shortMessage } from '../upstream-error.ts';

/**
 * The error that an answer with status 200 reports.
 * @param failure `{code, message}`; the code is a word of google.rpc.Code in small letters, or an address that ends in one
 */
export function decodeFailure(failure: JsonObject): GatewayError {
  const status = asString(failure['code'])?.split('/').at(-1)?.toUpperCase() ?? 'UNKNOWN';
  const message = asString(failure['message']) ?? 'the interaction failed';
  const { kind, fault } = decodeInlineError({ error: { code: 500, status, message } }) ?? {};
  const upstream = { status: 200, body: shortMessage(JSON.stringify(failure)) };
  return new GatewayError(kind ?? 'upstream_unavailable', shortMessage(message), { fault, upstream });
}

/** Why an interaction of the status `failed` did. */
export function decodeFailed(interaction: JsonObject): GatewayError {
  return decodeFailure(asObject(asArray(interaction['errors'])[0]));
}
