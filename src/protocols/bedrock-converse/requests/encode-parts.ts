// Encodes parts of messages and tool results as content blocks of Converse.
import type { MutableJsonObject } from '../../../base/json/index.ts';
import type { FilePart, Media, Part, TextPart } from '../../../canonical/index.ts';
import { asObject, asString, isJsonArray } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { EncodeScope } from './encode-scope.ts';
import { mediaTypeOfName, sniffMediaType } from '../../../base/lib/media-type.ts';

/** Formats by media type (API reference `ImageBlock`, `DocumentBlock`, `VideoBlock`, 2026-11). */
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);
const DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
  ['application/json', 'txt'],
]);
const VIDEOS: ReadonlyMap<string, string> = new Map([
  ['video/mp4', 'mp4'],
  ['video/quicktime', 'mov'],
  ['video/webm', 'webm'],
  ['video/x-matroska', 'mkv'],
  ['video/mpeg', 'mpeg'],
]);

/** Names of the documents of one request. Bedrock requires plain and unique names. */
export class DocumentNames {
  readonly #used = new Set<string>();

  /** Returns a legal name that no other document has (API reference `DocumentBlock`). */
  next(filename: string | undefined): string {
    const stem = filename?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
    const legal =
      stem
        .replace(/[^A-Za-z0-9\s\-()[\]]/g, '-')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 180) || 'document';
    let name = legal;
    for (let n = 2; this.#used.has(name); n++) name = `${legal} (${n})`;
    this.#used.add(name);
    return name;
  }
}

/**
 * Returns the block for a part; undefined if there is nothing to send, which is reported if it is a loss.
 * @param path JSON path of the part in the client's body
 * @throws GatewayError `unsupported` for audio, and for media that Bedrock cannot express
 */
export function encodePart(
  part: Part,
  path: string,
  names: DocumentNames,
  { report }: EncodeScope,
): MutableJsonObject | undefined {
  switch (part.type) {
    case 'text': {
      const document = documentOf(part, names);
      if (document) return document;
      if (part.annotations?.length)
        report.add(`${path}.annotations`, 'dropped', 'citations are not sent back to Bedrock');
      return text(part.text, path, report);
    }
    case 'refusal':
      return text(part.refusal, path, report);
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto')
        report.add(`${path}.detail`, 'dropped', 'Bedrock does not support image detail levels');
      return encodeMedia(part.media, undefined, path, names);
    case 'file':
      return encodeFile(part, path, names);
    case 'audio':
      throw new GatewayError('unsupported', 'Converse does not support audio', { param: path });
    case 'unknown':
      report.add(path, 'dropped', 'Bedrock does not support this content part');
      return undefined;
  }
}

/**
 * Returns a text document of a Messages client, with title, context and citation setting (API reference
 * `DocumentBlock`, 2026-11); undefined for other text.
 */
function documentOf({ source, text: whole }: TextPart, names: DocumentNames): MutableJsonObject | undefined {
  const raw = source?.protocol === 'anthropic-messages' ? source.raw : undefined;
  if (raw?.['type'] !== 'document' || whole.trim() === '') return undefined;
  const given = asObject(raw['source']);
  const { data, content } = given;
  const said = given['type'] === 'text' ? data : content;
  const context = asString(raw['context']);
  const { enabled } = asObject(raw['citations']);
  return {
    document: {
      format: 'txt',
      name: names.next(asString(raw['title'])),
      source: isJsonArray(said)
        ? { content: said.map((block) => ({ text: asString(asObject(block)['text']) ?? '' })) }
        : { text: asString(said) ?? whole },
      ...(context ? { context } : {}),
      ...(typeof enabled === 'boolean' ? { citations: { enabled } } : {}),
    },
  };
}

/** Drops blank text, which Bedrock refuses (recorded 2025: "The text field in the ContentBlock object … is blank"). */
function text(given: string, path: string, report: EncodeScope['report']): MutableJsonObject | undefined {
  if (given.trim() !== '') return { text: given };
  if (given !== '') report.add(path, 'dropped', 'Bedrock rejects text that is only white space');
  return undefined;
}

function encodeFile(part: FilePart, path: string, names: DocumentNames): MutableJsonObject {
  return encodeMedia(part.media, part.filename, path, names);
}

function encodeMedia(
  media: Media,
  filename: string | undefined,
  path: string,
  names: DocumentNames,
): MutableJsonObject {
  const source = sourceOf(media, path);
  const type = mediaTypeOf(media, filename);
  const image = IMAGES.get(type ?? '');
  if (image !== undefined) return { image: { format: image, source } };
  const document = DOCUMENTS.get(type ?? '') ?? (type?.startsWith('text/') ? 'txt' : undefined);
  if (document !== undefined) return { document: { format: document, name: names.next(filename), source } };
  const video = VIDEOS.get(type ?? '');
  if (video !== undefined) return { video: { format: video, source } };
  const what = type === undefined ? 'files of unknown type' : `${type} files`;
  throw new GatewayError('unsupported', `Bedrock does not support ${what}`, { param: path });
}

function mediaTypeOf(media: Media, filename: string | undefined): string | undefined {
  const named = mediaTypeOfName(filename ?? '');
  if (media.kind === 'url') return named ?? mediaTypeOfName(media.url);
  if (media.kind === 'file_id') return undefined;
  return media.mediaType?.split(';')[0]?.trim() || sniffMediaType(media.data) || named;
}

function sourceOf(media: Media, path: string): MutableJsonObject {
  if (media.kind === 'base64') return { bytes: media.data };
  if (media.kind === 'url' && media.url.startsWith('s3://')) return { s3Location: { uri: media.url } };
  const what = media.kind === 'url' ? 'URLs other than s3://' : 'file ids';
  throw new GatewayError('unsupported', `Bedrock does not support ${what}; send the content instead`, {
    param: path,
  });
}
