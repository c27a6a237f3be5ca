// Decodes `inlineData` and `fileData` into parts, by media type: images, audio and files.
import type { JsonObject } from '../../../base/json/index.ts';
import {
  isOpenAddress,
  type Media,
  type Part,
  type Problems,
  type Source,
} from '../../../canonical/index.ts';
import { readString, requireObject, requireString } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { fileIdOf } from '../files/index.ts';
import { standardBase64 } from '../thought-signature.ts';
import { audioFormat } from '../../../base/lib/media-type.ts';

/** Schemes other than those of URLs that a server can read. */
const UNREADABLE = /^(?!https?:|gs:|s3:)[a-z][a-z\d+.-]*:/i;

/**
 * Returns the part for inline bytes or a file URL; undefined, with a problem, if it is invalid.
 * @param part in lower camel case, with one of the two members
 * @param source the part as the client wrote it
 */
export function decodeMedia(
  part: JsonObject,
  path: string,
  source: Source,
  problems: Problems,
): Part | undefined {
  const isInline = part['inlineData'] !== undefined;
  if (isInline && part['fileData'] !== undefined) {
    problems.add(path, 'must have only one of inlineData and fileData');
    return undefined;
  }
  const at = `${path}.${isInline ? 'inlineData' : 'fileData'}`;
  const given = requireObject(isInline ? part['inlineData'] : part['fileData'], at, problems);
  if (!given) return undefined;
  const data = camelMembers(given);
  const mediaType = readString(data['mimeType'], `${at}.mimeType`, problems)?.toLowerCase() || undefined;
  if (isInline) {
    const bytes = requireString(data['data'], `${at}.data`, problems);
    if (mediaType === undefined) problems.add(`${at}.mimeType`, 'is required');
    if (bytes === undefined || mediaType === undefined) return undefined;
    const base64 = standardBase64(bytes);
    const format = audioFormat(mediaType);
    if (format !== undefined) return { type: 'audio', data: base64, format, path, source };
    return ofType(mediaType, { kind: 'base64', data: base64, mediaType }, undefined, path, source);
  }
  const uri = requireString(data['fileUri'], `${at}.fileUri`, problems)?.trim();
  if (uri === undefined) return undefined;
  if (UNREADABLE.test(uri)) {
    problems.add(`${at}.fileUri`, 'must be an http(s) address, or the id of an uploaded file');
    return undefined;
  }
  const uploaded = fileIdOf(uri);
  const media: Media =
    uploaded === undefined && isOpenAddress(uri)
      ? { kind: 'url', url: uri }
      : { kind: 'file_id', id: uploaded ?? uri };
  return ofType(
    mediaType,
    media,
    readString(data['displayName'], `${at}.displayName`, problems),
    path,
    source,
  );
}

function ofType(
  mediaType: string | undefined,
  media: Media,
  filename: string | undefined,
  path: string,
  source: Source,
): Part {
  return mediaType?.startsWith('image/') === true
    ? { type: 'image', media, path, source }
    : { type: 'file', media, filename, path, source };
}
