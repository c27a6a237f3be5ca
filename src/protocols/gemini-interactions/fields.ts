// The members of a request for an interaction that are the gateway's own. All others go on; Google judges them.
import { gatewayFields } from '../members/shared-fields.ts';

/** Members that steer the gateway, which Google refuses. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set(gatewayFields('').map(({ name }) => name));
