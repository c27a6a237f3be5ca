// Entity tags: by them a change is refused that was made for a thing as it no longer is (RFC 9110, section 8.8.3 and
// section 13.1.1). The tag of a thing is its version.
import { GatewayError } from '../../canonical/index.ts';

/** Object with a version; null where the configuration file defines it. */
export interface Versioned {
  readonly version: number | null;
}

/** The tag of what is answered; undefined where it has no version. */
export function entityTag({ version }: Versioned): string | undefined {
  return version === null ? undefined : `"${version}"`;
}

/**
 * Which version a change is for; undefined: whichever there is.
 * @param ifMatch null where the request has none
 * @param present the thing as it is
 * @throws GatewayError with status 412 where `If-Match` names other versions than the present one
 */
export function versionToChange(ifMatch: string | null, present: Versioned): number | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (present.version !== null && tags.includes(entityTag(present) ?? '')) return present.version;
  throw changedMeanwhile();
}

/** Error for the loser of two changes of one version. */
export function changedMeanwhile(): GatewayError {
  return new GatewayError('conflict', 'it has been changed meanwhile: read it again, then change it', {
    code: 'precondition_failed',
    httpStatus: 412,
  });
}
