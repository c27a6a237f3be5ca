// How a thing with versions is changed: the version that `If-Match` names, put in force at once, and told to the audit log.
import { GatewayError, type JsonObject } from '../canonical/index.ts';
import { changedMeanwhile, versionToChange, type Versioned } from './entity-tag.ts';
import type { RawCall } from './route.ts';

interface ChangeOptions<View, Made extends View> {
  readonly call: Pick<RawCall, 'deps' | 'ifMatch' | 'record'>;
  readonly action: string;
  readonly target: string;
  /** As it is. */
  readonly before: View;
  /** Changes that version, or whichever there is. */
  readonly change: (condition: { readonly ifVersion?: number | undefined }) => Promise<Made>;
  /** What the audit log says of it: no secret. */
  readonly told: (view: View) => JsonObject;
}

/**
 * Changes it. @returns as it is now
 * @throws GatewayError with status 412 where it has another version by then
 */
export async function changeOf<View extends Versioned, Made extends View>(
  options: ChangeOptions<View, Made>,
): Promise<Made> {
  const { call, action, target, before, change, told } = options;
  const ifVersion = versionToChange(call.ifMatch, before);
  const changed = await change({ ifVersion }).catch((error: unknown) => {
    const isLost = GatewayError.is(error) && error.code === 'version_conflict' && ifVersion !== undefined;
    throw isLost ? changedMeanwhile() : error;
  });
  await call.record({ action, target, before: told(before), after: told(changed) });
  await call.deps.tenantsChanged();
  return changed;
}
