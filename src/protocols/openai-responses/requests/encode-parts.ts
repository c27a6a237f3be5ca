// Encodes parts of messages and tool results as Responses content.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { FilePart, ImagePart, Part, Report, Target } from '../../../canonical/index.ts';
import { GatewayError, isEmptyText } from '../../../canonical/index.ts';
import { encodeBreakpoint } from '../../content/prompt-breakpoint.ts';
import type {
  WireInputFile,
  WireInputImage,
  WireInputText,
  WireOutputText,
  WireRefusal,
} from '../wire-types.ts';
import { sniffMediaType } from '../../../base/lib/media-type.ts';

/**
 * Encodes parts for the model: `input_text`, `input_image`, `input_file`. Empty texts are dropped.
 * @param path JSON path of the node that holds the parts
 * @throws GatewayError `unsupported` for audio, which the API does not accept: an answer without it would be misleading
 */
export function encodeInputParts(
  parts: readonly Part[],
  path: string,
  target: Target,
  report: Report,
): JsonObject[] {
  return encodeParts(parts, path, report, encodeInputPart, target.quirks.cacheControl);
}

/** Encodes earlier output of the model: `output_text` and `refusal`. Empty texts are dropped. */
export function encodeOutputParts(parts: readonly Part[], path: string, report: Report): JsonObject[] {
  return encodeParts(parts, path, report, encodeOutputPart, false);
}

function encodeParts(
  parts: readonly Part[],
  path: string,
  report: Report,
  encode: typeof encodeInputPart,
  takesBreakpoints: boolean,
): JsonObject[] {
  const out: JsonObject[] = [];
  parts.forEach((part, position) => {
    const at = part.path ?? `${path}.content[${position}]`;
    const own = part.source?.protocol === 'openai-responses' ? part.source.raw : undefined;
    if (own) return void out.push(own);
    const encoded = encode(part, at, report);
    if (!encoded) return;
    if (part.cache && takesBreakpoints)
      encoded['prompt_cache_breakpoint'] = encodeBreakpoint(part.cache, at, report);
    else reportCache(part.cache, at, report);
    out.push(encoded);
  });
  return out;
}

/** Reports a prompt-cache breakpoint that cannot be sent. Only input parts can have them, since GPT-5.6. */
export function reportCache(cache: JsonObject | undefined, path: string, report: Report): void {
  if (cache)
    report.add(
      `${path}.cache_control`,
      'dropped',
      'the Responses API does not support a cache breakpoint here',
    );
}

function encodeInputPart(part: Part, path: string, report: Report): MutableJsonObject | undefined {
  switch (part.type) {
    case 'text':
      return isEmptyText(part)
        ? undefined
        : ({ type: 'input_text', text: part.text } satisfies WireInputText);
    case 'refusal':
      return part.refusal === ''
        ? undefined
        : ({ type: 'input_text', text: part.refusal } satisfies WireInputText);
    case 'image':
      return encodeImage(part, path, report);
    case 'file':
      return encodeFile(part, path, report);
    case 'audio':
      throw new GatewayError(
        'unsupported',
        'The Responses API does not support audio input. Use a model that is served over another protocol.',
        { param: path },
      );
    case 'unknown':
      report.add(path, 'dropped', `only ${part.source.protocol} supports this kind of content`);
      return undefined;
  }
}

function encodeOutputPart(part: Part, path: string, report: Report): MutableJsonObject | undefined {
  switch (part.type) {
    case 'text':
      // The model does not read annotations of earlier answers, but the API requires the member.
      return isEmptyText(part)
        ? undefined
        : ({ type: 'output_text', text: part.text, annotations: [] } satisfies WireOutputText);
    case 'refusal':
      return part.refusal === ''
        ? undefined
        : ({ type: 'refusal', refusal: part.refusal } satisfies WireRefusal);
    case 'audio':
      throw new GatewayError(
        'unsupported',
        'The Responses API does not support audio of an earlier response.',
        { param: path },
      );
    case 'image':
    case 'file':
      report.add(
        path,
        'dropped',
        `the Responses API does not support ${part.type} parts in assistant messages`,
      );
      return undefined;
    case 'unknown':
      report.add(path, 'dropped', `only ${part.source.protocol} supports this kind of content`);
      return undefined;
  }
}

function encodeImage(part: ImagePart, path: string, report: Report): MutableJsonObject {
  const detail = (part.detail ?? 'auto') as WireInputImage['detail'];
  const { media } = part;
  if (media.kind === 'file_id')
    return { type: 'input_image', file_id: media.id, detail } satisfies WireInputImage;
  const image_url =
    media.kind === 'url' ? media.url : dataUrl(media.data, media.mediaType, 'image/png', path, report);
  return { type: 'input_image', image_url, detail } satisfies WireInputImage;
}

function encodeFile(part: FilePart, path: string, report: Report): MutableJsonObject {
  const { media, filename } = part;
  if (media.kind === 'base64') {
    const file_data = dataUrl(media.data, media.mediaType, 'application/pdf', path, report);
    if (filename === undefined)
      report.add(`${path}.filename`, 'defaulted', 'the Responses API requires a file name with inline data');
    return {
      type: 'input_file',
      filename: filename ?? defaultName(media.mediaType),
      file_data,
    } satisfies WireInputFile;
  }
  // A name together with a URL or an id is refused: the file has its own.
  if (filename !== undefined)
    report.add(`${path}.filename`, 'dropped', 'the Responses API supports a file name only with inline data');
  if (media.kind === 'url') return { type: 'input_file', file_url: media.url } satisfies WireInputFile;
  return { type: 'input_file', file_id: media.id } satisfies WireInputFile;
}

function dataUrl(
  base64: string,
  mediaType: string | undefined,
  fallback: string,
  path: string,
  report: Report,
): string {
  const known = mediaType ?? sniffMediaType(base64);
  if (known === undefined) report.add(path, 'defaulted', `the media type is missing; ${fallback} is assumed`);
  return `data:${known ?? fallback};base64,${base64}`;
}

function defaultName(mediaType: string | undefined): string {
  return mediaType === undefined || mediaType === 'application/pdf' ? 'file.pdf' : 'file';
}
