// Decodes the body that begins an upload, before the file's bytes (API reference, `media.upload`, 2026-11).
import type { JsonObject } from '../../../base/json/index.ts';
import { Problems, TEXTS } from '../../../canonical/index.ts';
import { camelMembers } from '../camel-members.ts';
import { readObject, readString } from '../../members/read-member.ts';

/** Maximum length of a name, in characters ("Files", `displayName`). */
const LONGEST_NAME = 512;

export interface GeminiUploadAsked {
  /** Undefined: none. */
  readonly displayName: string | undefined;
  /** Lower case; undefined: not specified. */
  readonly mimeType: string | undefined;
}

/** @throws GatewayError `invalid_request` naming every invalid member */
export function decodeGeminiUpload(body: JsonObject): GeminiUploadAsked {
  const problems = new Problems();
  const file = camelMembers(readObject(body['file'], 'file', problems) ?? {});
  const displayName = readString(file['displayName'], 'file.displayName', problems) || undefined;
  if ((displayName?.length ?? 0) > LONGEST_NAME)
    problems.add('file.displayName', TEXTS.tooLong(LONGEST_NAME));
  const mimeType = readString(file['mimeType'], 'file.mimeType', problems)?.toLowerCase() || undefined;
  if (readString(file['name'], 'file.name', problems))
    problems.add('file.name', 'is set by the gateway; omit it');
  problems.throwIfAny();
  return { displayName, mimeType };
}
