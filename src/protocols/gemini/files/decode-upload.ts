// Decodes the body that begins an upload, before the file's bytes (API reference, `media.upload`, 2026-11).
import type { JsonObject } from '../../../base/json/index.ts';
import { Problems, TEXTS } from '../../../canonical/index.ts';
import { camelMembers } from '../camel-members.ts';
import { fileIdOf } from './file-name.ts';
import { readObject, readString } from '../../members/read-member.ts';

/** Maximum length of a name, in characters ("Files", `displayName`). */
const LONGEST_NAME = 512;

/** Form of an id, which follows `files/` in a name ("Files", `name`). */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

export interface GeminiUploadAsked {
  /** Id that the client chose, which follows `files/` in the name. Undefined: the gateway chooses it. */
  readonly name: string | undefined;
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
  const name = readString(file['name'], 'file.name', problems)?.replace(/^files\//, '') || undefined;
  if (name !== undefined && !NAME.test(name))
    problems.add(
      'file.name',
      'must have 1 to 40 lower-case letters, digits or dashes after `files/`, and neither begin nor end with a dash',
    );
  else if (name !== undefined && fileIdOf(`files/${name}`) !== undefined)
    problems.add('file.name', 'looks like a name that the gateway gives: choose another');
  problems.throwIfAny();
  return { name, displayName, mimeType };
}
