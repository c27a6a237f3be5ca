// How a thing with versions is changed: the version that `If-Match` names, put in force at once.
import { GatewayError } from '../../canonical/index.ts';
import { changedMeanwhile, versionToChange, type Versioned } from './entity-tag.ts';
import type { RawCall } from './route.ts';

/**
 * Changes it.
 * @param before as it is
 * @param change changes that version, or whichever there is
 * @returns as it is now
 * @throws GatewayError with status 412 where it has another version by then
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
