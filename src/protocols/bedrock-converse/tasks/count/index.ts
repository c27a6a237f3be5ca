// `POST /model/{model}/count-tokens` for Bedrock upstreams.
import type { JsonObject } from '../../../../base/json/index.ts';
import type { CanonicalRequest, Report, Target } from '../../../../canonical/index.ts';
import { asObject, knownMembers } from '../../../../base/json/index.ts';
import type { CountCodec, CountUpstream } from '../../../tasks/count/codec.ts';
import { encodeRequest } from '../../requests/encode-request.ts';
import { statedCount } from '../../../usage/token-count.ts';

const upstream: CountUpstream = {
  pathFor: (model) => `/model/${encodeURIComponent(foundationModel(model))}/count-tokens`,
  encodeRequest: encodeCountRequest,
  decodeCount: (body) => statedCount(asObject(body)['inputTokens']),
};

/** API reference, `ConverseTokensRequest`, 2026-11. */
const TAKEN: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'toolConfig',
  'additionalModelRequestFields',
]);
/**
 * Prefixes of inference profiles. Tokens can only be counted for models (`CountTokens`: "identifier or ARN of the
 * foundation model").
 */
const PROFILE = /^(?:us|eu|apac|jp|au|ca|us-gov|global)\.(?=[a-z0-9]+\.)/;

function foundationModel(model: string): string {
  return model.replace(PROFILE, '');
}

function encodeCountRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  return { input: { converse: knownMembers(encodeRequest(request, target, report), TAKEN) } };
}

export const bedrockCount: CountCodec = {
  protocol: 'bedrock-converse',
  upstream,
};
