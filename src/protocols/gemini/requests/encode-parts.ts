// Encodes parts of messages and tool results as parts of Gemini's contents.
import type { MutableJsonObject } from '../../../base/json/index.ts';
import type { FilePart, Media, Part } from '../../../canonical/index.ts';
import { GatewayError, isEmptyText } from '../../../canonical/index.ts';
import type { EncodeScope } from './encode-scope.ts';
import { dropCache, ownRaw } from './encode-scope.ts';
import { mediaTypeOfName, sniffMediaType } from '../../../base/lib/media-type.ts';

/**
 * Returns the part to send; undefined if there is none, which is reported if it is a loss.
 * @param path JSON path of the part in the client's body
 * @throws GatewayError `unsupported` for media that Gemini cannot express
 */
export function encodePart(part: Part, path: string, scope: EncodeScope): MutableJsonObject | undefined {
  dropCache(part.cache, path, scope.report);
  const raw = ownRaw(part.source);
  if (raw) return raw;
  switch (part.type) {
    case 'text':
      return isEmptyText(part) ? undefined : { text: part.text };
    case 'refusal':
      return part.refusal === '' ? undefined : { text: part.refusal };
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto')
        scope.report.add(
          `${path}.detail`,
          'dropped',
          'Gemini does not support a detail level for a single image',
        );
      return encodeMedia(part.media, undefined, path);
    case 'audio':
      return { inlineData: { mimeType: audioType(part.format), data: part.data } };
    case 'file':
      return encodeFile(part, path, scope);
    case 'unknown':
      scope.report.add(path, 'dropped', 'Gemini does not support this content part');
      return undefined;
  }
}

function encodeFile(part: FilePart, path: string, scope: EncodeScope): MutableJsonObject {
  if (part.filename !== undefined && part.filename !== '' && !part.isNameFound)
    scope.report.add(`${path}.filename`, 'dropped', 'Gemini does not support file names');
  return encodeMedia(part.media, part.filename, path);
}

function encodeMedia(media: Media, filename: string | undefined, path: string): MutableJsonObject {
  switch (media.kind) {
    case 'base64': {
      const named = filename === undefined ? undefined : mediaTypeOfName(filename);
      const mimeType = media.mediaType?.split(';')[0]?.trim() || sniffMediaType(media.data) || named;
      if (mimeType === undefined)
        throw new GatewayError(
          'unsupported',
          'The media type of the file is missing and cannot be detected. Send it.',
          {
            param: path,
          },
        );
      return { inlineData: { mimeType, data: media.data } };
    }
    case 'url':
      return { fileData: { mimeType: mediaTypeOfName(media.url), fileUri: media.url } };
    case 'file_id':
      // Files uploaded to Google are identified by their URL, which only a Gemini client can have.
      if (media.id.startsWith('gs://') || media.id.startsWith('https://'))
        return { fileData: { mimeType: mediaTypeOfName(media.id), fileUri: media.id } };
      throw new GatewayError('unsupported', 'Google does not know this file id; send the content instead', {
        param: path,
      });
  }
}

/** Converts OpenAI's audio formats to media types that Gemini accepts (documentation "Audio understanding"). */
function audioType(format: string): string {
  return format === 'pcm16' ? 'audio/pcm' : `audio/${format}`;
}
