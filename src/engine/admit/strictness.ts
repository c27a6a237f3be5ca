// Whether a loss is a 400: the request's header says so first, then its key, then the configuration.
import { GatewayError } from '../../canonical/index.ts';
import type { ApiCall } from '../call.ts';

const HEADER = 'x-dragoman-strict';

/**
 * True: a parameter that would be dropped or changed refuses the request.
 * @param configured what the operator's configuration says
 * @throws GatewayError `invalid_request` for a header that is neither `true` nor `false`
 */
export function isStrict({ header, principal }: ApiCall, configured: boolean): boolean {
  switch (header(HEADER)) {
    case null:
      return principal.strict ?? configured;
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw new GatewayError('invalid_request', `${HEADER}: must be true or false`, { param: HEADER });
  }
}
