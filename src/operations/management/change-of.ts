// Changes a versioned object if its version matches `If-Match`, and applies the change immediately.
import { GatewayError } from '../../canonical/index.ts';
import { changedMeanwhile, versionToChange, type Versioned } from './entity-tag.ts';
import type { RawCall } from './route.ts';

/**
 * Applies a change.
 * @param before the current object
 * @param change changes the given version, or any if undefined
 * @returns the changed object
 * @throws GatewayError with status 412 if the version has changed
 */
export async function changeOf<Made>(
  { ifMatch, deps }: Pick<RawCall, 'deps' | 'ifMatch'>,
  before: Versioned,
  change: (condition: { readonly ifVersion?: number | undefined }) => Promise<Made>,
): Promise<Made> {
  const ifVersion = versionToChange(ifMatch, before);
  const changed = await change({ ifVersion }).catch((error: unknown) => {
    const isLost = GatewayError.is(error) && error.code === 'version_conflict' && ifVersion !== undefined;
    throw isLost ? changedMeanwhile() : error;
  });
  await deps.tenantsChanged();
  return changed;
}
