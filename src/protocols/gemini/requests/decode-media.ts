// `inlineData` and `fileData` as parts. Owns which media type is an image, audio or a file.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Media, Part, Problems, Source } from '../../../canonical/index.ts';
import { readString, requireObject, requireString } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { standardBase64 } from '../thought-signature.ts';
import { audioFormat } from '../../../base/lib/media-type.ts';

/** Files that only Google can read: uploaded to it, or in its cloud storage. */
const GOOGLES_OWN = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/;
/** Files that were uploaded to the gateway: their ids stand where Google has addresses. Earlier ids have `_`. */
const UPLOADED = /^file[-_]\w+$/;

/**
 * The part for a member that holds bytes or the address of a file; undefined, with a problem, when it is broken.
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
  const uri = requireString(data['fileUri'], `${at}.fileUri`, problems);
  if (uri === undefined) return undefined;
  const media: Media =
    GOOGLES_OWN.test(uri) || UPLOADED.test(uri) ? { kind: 'file_id', id: uri } : { kind: 'url', url: uri };
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
