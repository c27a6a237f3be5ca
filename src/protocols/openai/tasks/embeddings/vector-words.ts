// Values for the element type of vectors in OpenAI's embeddings and in compatible servers. OpenAI itself only has
// 32-bit floats. Others name the type in `encoding_format` or in a member of their own.
import type { JsonObject } from '../../../../base/json/index.ts';
import type { Problems } from '../../../../canonical/index.ts';
import { type Member, readOneOf } from '../../../members/read-member.ts';
import {
  type AskedElements,
  type ElementType,
  VECTOR_FORMATS,
  type VectorFormat,
} from '../../../tasks/embeddings/model.ts';

/** Perplexity's values ("Embeddings", docs.perplexity.ai, 2026-11), which combine type and format. */
const PACKED_FORMATS: Readonly<Record<string, ElementType>> = {
  base64_int8: 'int8',
  base64_binary: 'binary',
};

/** Members that name a type: Voyage and Mistral, vLLM, Jina (their API references, 2026-11). */
const TYPE_MEMBERS = ['output_dtype', 'embed_dtype', 'embedding_type'] as const;

const TYPES: Readonly<Record<string, ElementType>> = {
  float: 'float32',
  float32: 'float32',
  int8: 'int8',
  uint8: 'uint8',
  binary: 'binary',
  ubinary: 'ubinary',
};

export interface AskedForm {
  readonly format: VectorFormat | undefined;
  readonly elements?: AskedElements | undefined;
}

/** Reads the format and element type that a body requests. Unknown types are `opaque`. */
export function readForm(body: JsonObject, problems: Problems): AskedForm {
  const form = readFormat(body['encoding_format'], problems);
  if (form.elements) return form;
  for (const param of TYPE_MEMBERS) {
    const word = body[param];
    if (typeof word !== 'string') continue;
    // Jina's value for the base64 of floats.
    if (word === 'base64') return { format: form.format ?? 'base64' };
    return { ...form, elements: { type: typeOf(word, body), param } };
  }
  return form;
}

function readFormat(value: Member, problems: Problems): AskedForm {
  const words = [...VECTOR_FORMATS, ...Object.keys(PACKED_FORMATS)];
  const word = readOneOf(value, 'encoding_format', problems, words);
  const type = word === undefined ? undefined : PACKED_FORMATS[word];
  if (type) return { format: 'base64', elements: { type, param: 'encoding_format' } };
  return { format: VECTOR_FORMATS.find((format) => format === word) };
}

/** Returns the element type. vLLM's `endianness` can reverse the bytes of floats. */
function typeOf(word: string, { endianness }: JsonObject): ElementType {
  const type = (Object.hasOwn(TYPES, word) ? TYPES[word] : undefined) ?? 'opaque';
  return type === 'float32' && endianness === 'big' ? 'opaque' : type;
}

/** Returns the value of `encoding_format` for what `readForm` has read; undefined: the client sent none. */
export function formatWord({ format, elements }: AskedForm): string | undefined {
  if (elements?.param !== 'encoding_format') return format;
  return packedFormat(elements.type);
}

/** Returns Perplexity's value for a type; undefined: there is none. */
export function packedFormat(type: ElementType): string | undefined {
  return Object.keys(PACKED_FORMATS).find((word) => PACKED_FORMATS[word] === type);
}
