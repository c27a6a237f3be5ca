// Objects of the operator's accounts at vendors that a request names: an account is shared by everybody who has a key
// here, so that nobody reaches in it what the operator does not share on purpose.
import { areTexts, type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import type { NamedObject, ServerCodec } from '../../protocols/index.ts';
import { filesOfAccounts } from '../media/index.ts';

/**
 * Refuses what a request may not name.
 * @param mayName whether the operator shares an object
 * @throws GatewayError `not_found`, which does not tell whether there is such an object
 */
export function refuseObjects(
  request: CanonicalRequest,
  server: Pick<ServerCodec, 'namedObjects'>,
  mayName: (id: string) => boolean,
): void {
  const { items } = request;
  refuse(server.namedObjects(request), mayName);
  if (!areTexts(items)) refuse(filesOfAccounts(items), mayName);
}

function refuse(objects: readonly NamedObject[], mayName: (id: string) => boolean): void {
  for (const { id, path } of objects) {
    if (mayName(id)) continue;
    const message = `${path}: '${id.slice(0, 100)}' not found: objects of a vendor's account are shared by \`vendor_objects\` only.`;
    throw new GatewayError('not_found', message, { param: path });
  }
}
