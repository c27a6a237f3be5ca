// Decodes the content of messages and tool outputs: a string or an array of parts.
import { isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type FilePart,
  type ImagePart,
  type Media,
  type Part,
  type Problems,
  type Source,
  TEXTS,
} from '../../../canonical/index.ts';
import { decodeAddress } from '../../openai/decode-address.ts';
import {
  readContent,
  describe,
  readArray,
  readString,
  requireObject,
  requireString,
  requireStringOrEmpty,
  type Member,
} from '../../members/read-member.ts';
import { decodeBreakpoint } from '../../content/prompt-breakpoint.ts';
import { decodeAnnotation, sourceOf } from '../decode-item.ts';
import { FILE_PART, IMAGE_PART, saysMore, TEXT_PART } from '../member-shapes.ts';
import type { MemberShape } from '../../members/member-shape.ts';

/** Documented part types that an item accepts. Undocumented types are kept for any item. */
export type PartTypes = ReadonlySet<string>;

/** OpenAI requires `input_text` of users and `output_text` of assistants. Clients confuse them. */
const TEXT_PARTS = ['input_text', 'output_text', 'text'] as const;
export const INPUT_PARTS: PartTypes = new Set([...TEXT_PARTS, 'input_image', 'input_file', 'input_audio']);
export const ASSISTANT_PARTS: PartTypes = new Set([...TEXT_PARTS, 'refusal']);
export const OUTPUT_PARTS: PartTypes = new Set([...TEXT_PARTS, 'input_image', 'input_file']);

const DOCUMENTED: PartTypes = new Set([...INPUT_PARTS, ...ASSISTANT_PARTS]);

/** Keeps the raw part for an upstream of this protocol, if it has more members than the canonical one. */
function sourceBeyond(raw: JsonObject, shape: MemberShape): { readonly source?: Source } {
  return saysMore(raw, shape) ? { source: sourceOf(raw) } : {};
}

/** Decodes a string or parts. @returns the parts; an empty list, with a problem, for another type */
export function decodeContent(content: Member, path: string, allowed: PartTypes, problems: Problems): Part[] {
  const parts = readContent(content, path, problems, (element, at) =>
    decodePart(element, at, allowed, problems),
  );
  if (parts === undefined) problems.add(path, 'is required');
  return parts ?? [];
}

/** Decodes one part; undefined for an invalid one, which is a problem. */
export function decodePart(
  raw: Member,
  path: string,
  allowed: PartTypes,
  problems: Problems,
): Part | undefined {
  if (!isJsonObject(raw)) {
    problems.add(path, TEXTS.mustBePart(describe(raw)));
    return undefined;
  }
  const part = decodeBare(raw, path, allowed, problems);
  // The raw form keeps the breakpoint as the client wrote it.
  const cache = decodeBreakpoint(raw['prompt_cache_breakpoint'], `${path}.prompt_cache_breakpoint`, problems);
  return part && cache ? { ...part, cache } : part;
}

function decodeBare(raw: JsonObject, path: string, allowed: PartTypes, problems: Problems): Part | undefined {
  const type = requireString(raw['type'], `${path}.type`, problems);
  if (type === undefined) return undefined;
  const source = sourceOf(raw);
  if (!DOCUMENTED.has(type)) return { type: 'unknown', path, source };
  if (!allowed.has(type)) {
    problems.add(`${path}.type`, `must be one of ${[...allowed].join(', ')} here`);
    return undefined;
  }
  switch (type) {
    case 'refusal': {
      const refusal = requireStringOrEmpty(raw['refusal'], `${path}.refusal`, problems);
      return refusal === undefined ? undefined : { type: 'refusal', refusal, path };
    }
    case 'input_image':
      return decodeImage(raw, path, problems);
    case 'input_file':
      return decodeFile(raw, path, problems);
    case 'input_audio':
      return decodeAudio(raw, path, problems);
    default: {
      const text = requireStringOrEmpty(raw['text'], `${path}.text`, problems);
      if (text === undefined) return undefined;
      const annotations = readArray(raw['annotations'], `${path}.annotations`, problems)
        ?.filter(isJsonObject)
        .map(decodeAnnotation);
      return {
        type: 'text',
        text,
        path,
        ...(annotations?.length ? { annotations } : {}),
        ...sourceBeyond(raw, TEXT_PART),
      };
    }
  }
}

/** Decodes an image. `image_url` is a string here, but an object in Chat Completions. */
function decodeImage(raw: JsonObject, path: string, problems: Problems): ImagePart | undefined {
  const detail = readString(raw['detail'], `${path}.detail`, problems);
  const id = readString(raw['file_id'], `${path}.file_id`, problems);
  const url = readString(raw['image_url'], `${path}.image_url`, problems);
  // A second source would be ignored here, but perhaps used by the upstream.
  if (url && id) {
    problems.add(path, 'must have only one of image_url and file_id');
    return undefined;
  }
  if (!url) {
    if (id)
      return {
        type: 'image',
        media: { kind: 'file_id', id },
        detail,
        path,
        ...sourceBeyond(raw, IMAGE_PART),
      };
    problems.add(path, 'needs image_url or file_id');
    return undefined;
  }
  const media = decodeAddress(url, `${path}.image_url`, problems);
  if (media === null) problems.add(`${path}.image_url`, TEXTS.mustBeImageUrl);
  return media ? { type: 'image', media, detail, path, ...sourceBeyond(raw, IMAGE_PART) } : undefined;
}

function decodeFile(raw: JsonObject, path: string, problems: Problems): FilePart | undefined {
  const filename = readString(raw['filename'], `${path}.filename`, problems);
  const id = readString(raw['file_id'], `${path}.file_id`, problems);
  const data = readString(raw['file_data'], `${path}.file_data`, problems);
  const url = readString(raw['file_url'], `${path}.file_url`, problems);
  const media = fileMedia(data, url, id, path, problems);
  return media ? { type: 'file', media, filename, path, ...sourceBeyond(raw, FILE_PART) } : undefined;
}

function fileMedia(
  data: string | undefined,
  url: string | undefined,
  id: string | undefined,
  path: string,
  problems: Problems,
): Media | undefined {
  if ([data, url, id].filter(Boolean).length > 1) {
    problems.add(path, 'must have only one of file_data, file_id and file_url');
    return undefined;
  }
  if (data) {
    const media = decodeAddress(data, `${path}.file_data`, problems);
    // Plain base64 has no media type.
    return media === null ? { kind: 'base64', data, mediaType: undefined } : media;
  }
  if (url) {
    const media = decodeAddress(url, `${path}.file_url`, problems);
    if (media === null) problems.add(`${path}.file_url`, 'must be an http(s) URL');
    return media ?? undefined;
  }
  if (id) return { kind: 'file_id', id };
  problems.add(path, 'needs file_data, file_id or file_url');
  return undefined;
}

/** Not described in the reference, but part of the SDK's types (`ResponseInputAudio`). */
function decodeAudio(raw: JsonObject, path: string, problems: Problems): Part | undefined {
  const at = `${path}.input_audio`;
  const audio = requireObject(raw['input_audio'], at, problems);
  if (!audio) return undefined;
  const format = requireString(audio['format'], `${at}.format`, problems);
  const data = requireString(audio['data'], `${at}.data`, problems);
  return format === undefined || data === undefined
    ? undefined
    : { type: 'audio', data, format, path, source: sourceOf(raw) };
}
