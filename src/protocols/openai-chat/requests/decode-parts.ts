// Decodes the content of a message: a string or an array of parts.
import { isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import { type FilePart, type ImagePart, type Part, type Problems, TEXTS } from '../../../canonical/index.ts';
import {
  readContent,
  describe,
  readObject,
  readString,
  requireObject,
  requireString,
  requireStringOrEmpty,
  type Member,
} from '../../members/read-member.ts';
import { decodeAddress } from '../../openai/decode-address.ts';
import { decodeBreakpoint } from '../../content/prompt-breakpoint.ts';
import { partShape } from '../member-shapes.ts';

/** Documented part types that a role accepts. Undocumented types are kept for any role. */
export type PartTypes = ReadonlySet<string>;

export const TEXT_ONLY: PartTypes = new Set(['text']);
export const USER_PARTS: PartTypes = new Set(['text', 'image_url', 'input_audio', 'file']);
/** Only text is documented. Clients whose tools take screenshots send more, and most models read it. */
export const TOOL_PARTS: PartTypes = new Set(['text', 'image_url', 'file']);
export const ASSISTANT_PARTS: PartTypes = new Set(['text', 'refusal']);

const DOCUMENTED: PartTypes = new Set([...USER_PARTS, ...ASSISTANT_PARTS]);

/** Decodes the content of a message; undefined if it is absent or null. */
export function decodeContent(
  content: Member,
  path: string,
  allowed: PartTypes,
  problems: Problems,
): Part[] | undefined {
  return readContent(content, path, problems, (element, at) => decodePart(element, at, allowed, problems));
}

/**
 * Decodes a prompt-cache breakpoint, `{type:"ephemeral", ttl?}` (Anthropic, "Prompt caching"; also used in Chat
 * Completions for text parts and tools). An unknown lifetime is left to the upstream.
 */
export function decodeCacheControl(value: Member, path: string, problems: Problems): JsonObject | undefined {
  const cache = readObject(value, path, problems);
  if (!cache) return undefined;
  if (cache['type'] !== 'ephemeral') problems.add(`${path}.type`, 'must be ephemeral');
  readString(cache['ttl'], `${path}.ttl`, problems);
  return cache;
}

function decodePart(raw: Member, path: string, allowed: PartTypes, problems: Problems): Part | undefined {
  if (!isJsonObject(raw)) {
    problems.add(path, TEXTS.mustBePart(describe(raw)));
    return undefined;
  }
  const type = requireString(raw['type'], `${path}.type`, problems);
  if (type === undefined) return undefined;
  const cache =
    decodeCacheControl(raw['cache_control'], `${path}.cache_control`, problems) ??
    decodeBreakpoint(raw['prompt_cache_breakpoint'], `${path}.prompt_cache_breakpoint`, problems);
  if (!DOCUMENTED.has(type)) {
    return { type: 'unknown', path, cache, source: { protocol: 'openai-chat', raw } };
  }
  if (!allowed.has(type)) {
    problems.add(`${path}.type`, `must be one of ${[...allowed].join(', ')} in a message of this role`);
    return undefined;
  }
  const known = partShape(raw)?.known;
  // Kept only if it contains more than the canonical part.
  const saysMore = known && (raw['prompt_cache_breakpoint'] !== undefined || unknownMembers(raw, known));
  const source = saysMore && ({ protocol: 'openai-chat', raw } as const);
  switch (type) {
    case 'text': {
      const text = requireStringOrEmpty(raw['text'], `${path}.text`, problems);
      return text === undefined ? undefined : { type: 'text', text, path, cache, source };
    }
    case 'refusal': {
      const refusal = requireStringOrEmpty(raw['refusal'], `${path}.refusal`, problems);
      return refusal === undefined ? undefined : { type: 'refusal', refusal, path, cache, source };
    }
    case 'image_url':
      return decodeImage(raw, path, cache, problems);
    case 'input_audio':
      return decodeAudio(raw, path, cache, problems);
    default:
      return decodeFile(raw, path, cache, problems);
  }
}

function decodeImage(
  raw: JsonObject,
  path: string,
  cache: JsonObject | undefined,
  problems: Problems,
): ImagePart | undefined {
  // OpenAI also accepts a plain URL, as Mistral's own clients send it (confirmed by a recorded answer).
  const isBare = typeof raw['image_url'] === 'string';
  const image: JsonObject | undefined = isBare
    ? {}
    : requireObject(raw['image_url'], `${path}.image_url`, problems);
  if (!image) return undefined;
  const at = isBare ? `${path}.image_url` : `${path}.image_url.url`;
  const detail = readString(image['detail'], `${path}.image_url.detail`, problems);
  const url = requireString(isBare ? raw['image_url'] : image['url'], at, problems);
  const media = url === undefined ? undefined : decodeAddress(url, at, problems);
  if (url !== undefined && media === null) {
    problems.add(at, TEXTS.mustBeImageUrl);
  }
  return media ? { type: 'image', media, detail, path, cache } : undefined;
}

function decodeAudio(
  raw: JsonObject,
  path: string,
  cache: JsonObject | undefined,
  problems: Problems,
): Part | undefined {
  const audio = requireObject(raw['input_audio'], `${path}.input_audio`, problems);
  if (!audio) return undefined;
  const format = requireString(audio['format'], `${path}.input_audio.format`, problems);
  const given = requireString(audio['data'], `${path}.input_audio.data`, problems);
  if (format === undefined || given === undefined) return undefined;
  const media = decodeAddress(given, `${path}.input_audio.data`, problems);
  if (media === undefined) return undefined;
  if (media?.kind === 'url') {
    problems.add(`${path}.input_audio.data`, 'must be base64, not a URL');
    return undefined;
  }
  return { type: 'audio', data: media?.kind === 'base64' ? media.data : given, format, path, cache };
}

function decodeFile(
  raw: JsonObject,
  path: string,
  cache: JsonObject | undefined,
  problems: Problems,
): FilePart | undefined {
  const file = requireObject(raw['file'], `${path}.file`, problems);
  if (!file) return undefined;
  const filename = readString(file['filename'], `${path}.file.filename`, problems);
  const id = readString(file['file_id'], `${path}.file.file_id`, problems);
  const data = readString(file['file_data'], `${path}.file.file_data`, problems);
  if (!id && !data) {
    problems.add(`${path}.file`, 'needs file_id or file_data');
    return undefined;
  }
  // A second source would be ignored here, but perhaps used by the upstream.
  if (id && data) {
    problems.add(`${path}.file`, 'must have only one of file_id and file_data');
    return undefined;
  }
  if (!data) return { type: 'file', media: { kind: 'file_id', id: id ?? '' }, filename, path, cache };
  const media = decodeAddress(data, `${path}.file.file_data`, problems);
  if (media === undefined) return undefined;
  return {
    type: 'file',
    media: media ?? { kind: 'base64', data, mediaType: undefined },
    filename,
    path,
    cache,
  };
}
