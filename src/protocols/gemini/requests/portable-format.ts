// `text/x.enum`, an answer that is one bare word of a list, for upstreams that know answer formats in JSON alone. Must not
// know what an upstream does with a format.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, ProtocolName, ResponseFormat } from '../../../canonical/index.ts';
import { asArray, asObject } from '../../../base/json/index.ts';
import type { Ported } from '../../protocol.ts';

const MIME_TYPE = 'generationConfig.responseMimeType';
const SCHEMAS = ['generationConfig.responseJsonSchema', 'generationConfig.responseSchema'] as const;
/** The root of a schema must be an object for OpenAI to enforce it (guide "Structured Outputs", 2026-11). */
const MEMBER = 'answer';

/**
 * The list of words as a schema, whose one member the engine takes out of the answer again (API reference,
 * `GenerationConfig.responseMimeType`, 2026-11); undefined where no list is asked for, or Gemini's own protocol has it.
 */
export function formatOfWords(
  request: CanonicalRequest,
  upstream: { readonly protocol: ProtocolName },
): ResponseFormat | undefined {
  const words = upstream.protocol === 'gemini' ? [] : wordsOf(request);
  if (words.length === 0) return undefined;
  const schema: JsonObject = {
    type: 'object',
    properties: { [MEMBER]: { type: 'string', enum: words } },
    required: [MEMBER],
    additionalProperties: false,
  };
  return { type: 'json_schema', name: 'response', schema, strict: true, unwrap: MEMBER };
}

/** The request with the list of words as a schema. Unchanged for an upstream of Gemini's own protocol. */
export function portableFormat(
  request: CanonicalRequest,
  upstream: { readonly protocol: ProtocolName },
): Ported {
  const responseFormat = formatOfWords(request, upstream);
  if (!responseFormat) return { request, restore: null };
  const extra = { ...request.extra };
  for (const path of [MIME_TYPE, ...SCHEMAS]) delete extra[path];
  return { request: { ...request, extra, responseFormat }, restore: null };
}

/** The words of the list; none where the request asks for something else. */
function wordsOf({ extra }: CanonicalRequest): readonly string[] {
  if (extra[MIME_TYPE] !== 'text/x.enum') return [];
  const given = SCHEMAS.map((path) => extra[path]).find((schema) => schema !== undefined);
  const list = asArray(asObject(given)['enum']);
  const words = list.filter((word) => typeof word === 'string');
  return words.length === list.length ? words : [];
}
