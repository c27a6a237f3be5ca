// `text/x.enum`, an answer that is one word of a list, for upstreams that only support JSON response formats.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, ProtocolName, ResponseFormat } from '../../../canonical/index.ts';
import { asArray, asObject } from '../../../base/json/index.ts';
import type { Ported } from '../../protocol.ts';

const MIME_TYPE = 'generationConfig.responseMimeType';
const SCHEMAS = ['generationConfig.responseJsonSchema', 'generationConfig.responseSchema'] as const;
/** OpenAI only enforces schemas whose root is an object (guide "Structured Outputs", 2026-11). */
const MEMBER = 'answer';

/**
 * Returns the list of words as a schema with one member, whose value the engine unwraps in the answer (API reference,
 * `GenerationConfig.responseMimeType`, 2026-11). Undefined if no list is requested, or for a Gemini upstream.
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

/** Returns the request with the list of words as a schema; unchanged for a Gemini upstream. */
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

/** Returns the words of the list; empty for other formats. */
function wordsOf({ extra }: CanonicalRequest): readonly string[] {
  if (extra[MIME_TYPE] !== 'text/x.enum') return [];
  const given = SCHEMAS.map((path) => extra[path]).find((schema) => schema !== undefined);
  const list = asArray(asObject(given)['enum']);
  const words = list.filter((word) => typeof word === 'string');
  return words.length === list.length ? words : [];
}
