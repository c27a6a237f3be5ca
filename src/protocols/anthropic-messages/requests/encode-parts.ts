// Encodes parts of messages and tool results as content blocks of the Messages API.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type Annotation,
  type FilePart,
  GatewayError,
  type ImagePart,
  type Media,
  type Part,
  type Report,
  type Source,
  type Target,
  type TextPart,
  TEXTS,
} from '../../../canonical/index.ts';
import { isTextType, mediaTypeOfName, sniffMediaType } from '../../../base/lib/media-type.ts';
import { anthropicBreakpoint } from '../../content/prompt-breakpoint.ts';

/**
 * Returns the block for a part, with its cache breakpoint; undefined if there is nothing to send, which is reported if
 * it is a loss.
 * @param path JSON path of the part in the client's body
 * @throws GatewayError `unsupported` for audio, and for media that Anthropic cannot express
 */
export function encodePart(part: Part, path: string, scope: EncodeScope): MutableJsonObject | undefined {
  const block = encodeContent(part, path, scope);
  if (block !== undefined) markCache(block, part.cache, path, scope);
  else if (part.cache) scope.report.add(`${path}.cache_control`, 'dropped', TEXTS.contentNotSent);
  return block;
}

function encodeContent(part: Part, path: string, scope: EncodeScope): MutableJsonObject | undefined {
  switch (part.type) {
    case 'text':
      return encodeText(part, path, scope);
    case 'refusal':
      return visible(part.refusal, path, scope) ? { type: 'text', text: part.refusal } : undefined;
    case 'image':
      return encodeImage(part, path, scope);
    case 'file':
      return encodeFile(part, path, scope);
    case 'audio':
      throw new GatewayError('unsupported', 'Claude does not support audio', { param: path });
    case 'unknown': {
      const raw = ownRaw(part.source);
      if (raw === undefined)
        scope.report.add(path, 'dropped', 'Anthropic does not support this content part');
      return raw;
    }
  }
}

function encodeText(part: TextPart, path: string, scope: EncodeScope): MutableJsonObject | undefined {
  const raw = ownRaw(part.source);
  // Claude itself writes blank blocks between cited ones, and accepts them (recorded 2026-08).
  if (raw && part.text !== '') return raw;
  if (!visible(part.text, path, scope)) return undefined;
  const block: MutableJsonObject = { type: 'text', text: part.text };
  if (part.annotations?.length) {
    const citations = part.annotations.flatMap(ownCitation);
    if (citations.length > 0) block['citations'] = citations;
    if (citations.length < part.annotations.length) {
      scope.report.add(
        `${path}.annotations`,
        'dropped',
        "only Claude's own citations can be sent back to it",
      );
    }
  }
  return block;
}

/** Anthropic refuses empty and blank text blocks. Only the loss of a blank one is reported. */
function visible(text: string, path: string, scope: EncodeScope): boolean {
  if (text === '') return false;
  if (text.trim() !== '') return true;
  scope.report.add(path, 'dropped', 'Anthropic rejects text that is only white space');
  return false;
}

function ownCitation(annotation: Annotation): JsonObject[] {
  const raw = ownRaw(annotation.source);
  return raw ? [raw] : [];
}

function encodeImage(part: ImagePart, path: string, scope: EncodeScope): MutableJsonObject {
  const raw = ownRaw(part.source);
  if (raw) return raw;
  if (part.detail !== undefined && part.detail !== 'auto') {
    scope.report.add(`${path}.detail`, 'dropped', 'Anthropic does not support image detail levels');
  }
  return { type: 'image', source: imageSource(part.media, path) };
}

function imageSource(media: Media, path: string): JsonObject {
  switch (media.kind) {
    case 'base64': {
      const mediaType = media.mediaType ?? sniffMediaType(media.data);
      if (mediaType === undefined) {
        throw new GatewayError(
          'unsupported',
          'The media type of the image is missing and cannot be detected. Send it.',
          {
            param: path,
          },
        );
      }
      return {
        type: 'base64',
        media_type: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
        data: media.data,
      };
    }
    case 'url':
      return { type: 'url', url: media.url };
    case 'file_id':
      throw foreignFile(path);
  }
}

function encodeFile(part: FilePart, path: string, scope: EncodeScope): MutableJsonObject {
  const raw = ownRaw(part.source);
  if (raw) return raw;
  const { media, filename } = part;
  if (media.kind === 'base64') {
    const mediaType =
      media.mediaType?.split(';')[0]?.trim() ?? sniffMediaType(media.data) ?? mediaTypeOfName(filename ?? '');
    if (mediaType?.startsWith('image/')) {
      if (filename !== undefined) scope.report.add(`${path}.filename`, 'dropped', 'images have no title');
      return { type: 'image', source: imageSource({ ...media, mediaType }, path) };
    }
    return document(base64Document(media.data, mediaType, path), filename);
  }
  if (media.kind === 'url') return document({ type: 'url', url: media.url }, filename);
  throw foreignFile(path);
}

function document(source: JsonObject, title: string | undefined): MutableJsonObject {
  return title === undefined || title === ''
    ? { type: 'document', source }
    : { type: 'document', source, title };
}

/** Anthropic accepts PDF as base64, and any other document as plain text (SDK type `DocumentBlockParam`). */
function base64Document(data: string, mediaType: string | undefined, path: string): JsonObject {
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (mediaType !== undefined && isTextType(mediaType)) {
    return { type: 'text', media_type: 'text/plain', data: decodeUtf8(data, path) };
  }
  const what = mediaType === undefined ? 'files of unknown type' : `${mediaType} files`;
  throw new GatewayError('unsupported', `Claude supports PDF and text files, not ${what}`, { param: path });
}

function decodeUtf8(base64: string, path: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new GatewayError('invalid_request', 'The file must be UTF-8 text in base64.', { param: path });
  }
}

function foreignFile(path: string): GatewayError {
  return new GatewayError('unsupported', 'Anthropic does not know this file id; send the content instead', {
    param: path,
  });
}

// State that the encoders of one request share: the target, the report, and the cache breakpoints.

/** Maximum number of breakpoints per request (documentation "Prompt caching", 2026-11). */
const MAX_BREAKPOINTS = 4;

export interface EncodeScope {
  readonly target: Target;
  readonly report: Report;
  /** Path in the client's body of each block with a breakpoint. */
  readonly cachePaths: Map<MutableJsonObject, string>;
}

/** Creates the scope of a new request. */
export function newScope(target: Target, report: Report): EncodeScope {
  return { target, report, cachePaths: new Map() };
}

/** Returns a copy of the raw form of a node that came from a client of this protocol; otherwise undefined. */
export function ownRaw(source: Source | undefined): MutableJsonObject | undefined {
  return source?.protocol === 'anthropic-messages' ? { ...source.raw } : undefined;
}

/** Adds the client's breakpoint to a block. */
export function markCache(
  block: MutableJsonObject,
  cache: JsonObject | undefined,
  path: string,
  scope: EncodeScope,
): void {
  if (cache === undefined) return;
  block['cache_control'] = anthropicBreakpoint(cache, path, scope.report);
  scope.cachePaths.set(block, `${path}.cache_control`);
}

/**
 * Removes the first breakpoints if there are more than Anthropic accepts, because the last ones cover the longest
 * prefix.
 * @param lists blocks in the order in which Anthropic caches: tools, system, messages
 */
export function limitBreakpoints(
  lists: readonly (readonly MutableJsonObject[])[],
  { cachePaths, report }: EncodeScope,
): void {
  const marked: MutableJsonObject[] = [];
  for (const blocks of lists)
    for (const block of blocks) if (block['cache_control'] !== undefined) marked.push(block);
  if (marked.length <= MAX_BREAKPOINTS) return;
  for (const block of marked.slice(0, marked.length - MAX_BREAKPOINTS)) {
    delete block['cache_control'];
    const path = cachePaths.get(block) ?? 'cache_control';
    report.add(
      path,
      'dropped',
      `Anthropic accepts at most ${MAX_BREAKPOINTS} cache breakpoints; the first ones were removed`,
    );
  }
}
