// A request whose limits have no room for any is refused before anybody reads what was said in it: by far most of what a
// request costs is to read it and to decide who shall answer. What it is told, and its record, are the same.
import { Report, type RequestOutline } from '../canonical/index.ts';
import { refuse } from './answer/index.ts';
import { arrive } from './arrival.ts';
import type { ApiCall } from './call.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { settle } from './settle/index.ts';
import { AttemptLog } from './attempt-log.ts';

/**
 * Refuses a call, if that is certain.
 * @param call its `json` is not asked for
 * @param outline what was read of it
 * @returns resolves when its client has been told; null where the call has to be served
 */
export function refuseUnread(
  call: ApiCall,
  outline: RequestOutline,
  deps: GatewayDependencies,
): Promise<void> | null {
  const arrival = arrive(call, deps.settings(), deps);
  const { quota, settings } = arrival;
  if (!quota) return null;
  const endUser = deps.endUsers.hashOf(call.principal.projectId, outline.endUser);
  const model = settings.catalog.find(outline.model)?.id ?? '';
  const failure = quota.refuse({ model, endUser });
  if (!failure) return null;
  const refused = { arrival, attemptLog: new AttemptLog(), report: new Report() };
  const outcome = { ...refused, request: outline, route: null, turns: [], turnCount: 0, failure };
  settle({ ...outcome, cancelled: false, content: null }, false, deps);
  return respond();

  async function respond(): Promise<void> {
    await deps.ledger.confirmed();
    if (failure) refuse(refused, failure);
  }
}
