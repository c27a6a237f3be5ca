// Encodes canonical parts as content of Chat Completions messages.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { AudioPart, FilePart, ImagePart, Media, Part, UnknownPart } from '../../../canonical/index.ts';
import { asString, unknownMembers } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { anthropicBreakpoint } from '../../content/prompt-breakpoint.ts';
import { copyUnknownMembers, ownRaw, type EncodeContext } from './encode-context.ts';
import { partShape } from '../member-shapes.ts';
import { sniffMediaType } from '../../../base/lib/media-type.ts';

/**
 * Encodes the content of a message.
 * Text becomes a string if its parts have no other members to send; everything else becomes an array.
 * @param joint separator between texts that must become one string
 * @throws GatewayError `unsupported` for a part that cannot be sent
 */
export function encodeContent(parts: readonly Part[], joint: string, context: EncodeContext): JsonValue {
  const { quirks } = context.target;
  const onlyText = parts.every((part) => part.type === 'text');
  const plain = quirks.textContent === 'string' || parts.length <= 1;
  if (
    onlyText &&
    plain &&
    !(quirks.textContent === 'parts' && parts.some((part) => saysMore(part, context)))
  ) {
    for (const part of parts) {
      reportCache(part, context);
      reportMembers(part, context);
    }
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join(joint);
  }
  return parts.map((part) => encodePart(part, context));
}

/** Encodes one content part. @throws GatewayError `unsupported` for a part that cannot be sent */
export function encodePart(part: Part, context: EncodeContext): JsonObject {
  const encoded = encodeBare(part);
  const raw = part.type === 'unknown' ? undefined : ownRaw(part.source);
  const known = raw && partShape(raw)?.known;
  if (known) copyUnknownMembers(encoded, raw, known, part.path ?? 'messages', context);
  if (!part.cache) return encoded;
  if (context.target.quirks.cacheControl)
    encoded['cache_control'] = anthropicBreakpoint(part.cache, part.path ?? 'messages', context.report);
  else if (raw?.[OWN_BREAKPOINT] !== undefined && context.target.quirks.unknownFields === 'pass')
    encoded[OWN_BREAKPOINT] = raw[OWN_BREAKPOINT];
  else reportCache(part, context);
  return encoded;
}

function encodeBare(part: Part): MutableJsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image':
      return encodeImage(part);
    case 'audio':
      return encodeAudio(part);
    case 'file':
      return encodeFile(part);
    case 'unknown':
      return encodeUnknown(part);
  }
}

function encodeImage(part: ImagePart): MutableJsonObject {
  if (part.media.kind === 'file_id')
    throw undeliverable(
      part.path,
      'Chat Completions does not support images by file id; send a URL or the data',
    );
  return { type: 'image_url', image_url: { url: address(part.media), detail: part.detail } };
}

function encodeAudio(part: AudioPart): MutableJsonObject {
  return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
}

function encodeFile(part: FilePart): MutableJsonObject {
  const { media, filename } = part;
  if (media.kind === 'file_id') return { type: 'file', file: { file_id: media.id, filename } };
  if (media.kind === 'base64' && media.mediaType === undefined && !isPdf(media.data, filename)) {
    return { type: 'file', file: { file_data: media.data, filename } };
  }
  const file_data =
    media.kind === 'base64' ? dataUrl(media.data, media.mediaType ?? 'application/pdf') : media.url;
  return { type: 'file', file: { file_data, filename } };
}

function encodeUnknown(part: UnknownPart): MutableJsonObject {
  if (part.source.protocol === 'openai-chat') {
    const { cache_control: _, ...raw } = part.source.raw;
    return raw;
  }
  const type = asString(part.source.raw['type']) ?? 'unknown';
  throw undeliverable(part.path, `Chat Completions does not support parts of type ${type}`);
}

function undeliverable(path: string | undefined, message: string): GatewayError {
  return new GatewayError('unsupported', path ? `${path}: ${message}` : message, { param: path });
}

function address(media: Exclude<Media, { kind: 'file_id' }>): string {
  if (media.kind === 'url') return media.url;
  return dataUrl(media.data, media.mediaType ?? sniffMediaType(media.data) ?? 'image/png');
}

function dataUrl(data: string, mediaType: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** `JVBERi0` is base64 for `%PDF-`. */
function isPdf(data: string, filename: string | undefined): boolean {
  return data.startsWith('JVBERi0') || filename === undefined || filename.toLowerCase().endsWith('.pdf');
}

/** True for a part with members in addition to its text that the target accepts. */
function saysMore(part: Part, { target: { quirks } }: EncodeContext): boolean {
  const hasMembers = quirks.unknownFields === 'pass' && ownRaw(part.source) !== undefined;
  return hasMembers || (part.cache !== undefined && quirks.cacheControl);
}

/** Reports unknown members of a part that becomes a string. */
function reportMembers(part: Part, context: EncodeContext): void {
  const raw = ownRaw(part.source);
  const known = raw && partShape(raw)?.known;
  for (const name in known && unknownMembers(raw, known))
    context.report.add(
      `${part.path ?? 'messages'}.${name}`,
      'dropped',
      'the upstream supports only the text',
    );
}

/** OpenAI's member for a cache breakpoint (API reference, "Prompt caching", 2026-11). */
const OWN_BREAKPOINT = 'prompt_cache_breakpoint';

/** Reports a cache breakpoint that the target does not support. */
function reportCache(part: Part, context: EncodeContext): void {
  if (!part.cache) return;
  context.report.add(
    `${part.path ?? 'messages'}.${ownRaw(part.source)?.[OWN_BREAKPOINT] === undefined ? 'cache_control' : OWN_BREAKPOINT}`,
    'dropped',
    TEXTS.noBreakpoints,
  );
}
