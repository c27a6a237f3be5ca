// `POST /model/{model}/count-tokens`: what Bedrock is asked, and its answer. No client speaks it to the gateway.
import type { CanonicalRequest, JsonObject, Report, Target } from '../../canonical/index.ts';
import { asNumber, asObject, knownMembers } from '../../canonical/index.ts';
import type { CountCodec } from '../protocol.ts';
import { encodeRequest } from './encode-request.ts';

export const counting: CountCodec = {
  pathFor: (model) => `/model/${encodeURIComponent(foundationModel(model))}/count-tokens`,
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => asNumber(asObject(body)['inputTokens']),
};

/** API reference, `ConverseTokensRequest`, 2026-11. */
const TAKEN: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'toolConfig',
  'additionalModelRequestFields',
]);
/** Only models themselves can be counted for (`CountTokens`: "identifier or ARN of the foundation model"), not profiles. */
const PROFILE = /^(?:us|eu|apac|jp|au|ca|us-gov|global)\.(?=[a-z0-9]+\.)/;

function foundationModel(model: string): string {
  return model.replace(PROFILE, '');
}

function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return { input: { converse: knownMembers(encodeRequest(request, target, report), TAKEN) } };
}
