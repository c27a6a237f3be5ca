// Entity tags for conditional changes (RFC 9110, section 8.8.3 and section 13.1.1). The tag of an object is its
// version.
import { GatewayError } from '../../canonical/index.ts';

/** Object with a version; null if it is defined in the configuration file. */
export interface Versioned {
  readonly version: number | null;
}

/** Tag of an object; undefined if it has no version. */
export function entityTag({ version }: Versioned): string | undefined {
  return version === null ? undefined : `"${version}"`;
}

/**
 * Version that a change must apply to; undefined: any.
 * @param ifMatch null: no header
 * @param present the current object
 * @throws GatewayError with status 412 if `If-Match` does not contain the current version
 */
export function versionToChange(ifMatch: string | null, present: Versioned): number | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (present.version !== null && tags.includes(entityTag(present) ?? '')) return present.version;
  throw changedMeanwhile();
}

/** Error for the later of two changes of the same version. */
export function changedMeanwhile(): GatewayError {
  return new GatewayError(
    'conflict',
    'The object has changed since you read it (`If-Match`). Read it again and repeat the change.',
    {
      code: 'precondition_failed',
      httpStatus: 412,
    },
  );
}
