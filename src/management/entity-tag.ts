// Entity tags: by them a change is refused that was made for a thing as it no longer is (RFC 9110, section 8.8.3 and
// section 13.1.1).
import { createHash } from 'node:crypto';
import { GatewayError, type JsonObject } from '../canonical/index.ts';

/** The tag of what is answered: the same for the same members. */
export function entityTag(answer: JsonObject): string {
  return `"${createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 22)}"`;
}

/**
 * Throws GatewayError with status 412 where `If-Match` names other tags than that of the thing as it is.
 * @param ifMatch null where the request has none: any will do
 */
export function requireMatch(ifMatch: string | null, present: JsonObject): void {
  if (ifMatch === null || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes(entityTag(present))) return;
  throw new GatewayError('conflict', 'It has been changed meanwhile: read it again, then change it.', {
    code: 'precondition_failed',
    httpStatus: 412,
  });
}
