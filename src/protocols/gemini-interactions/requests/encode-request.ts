// Requests are only relayed to the Interactions API, never encoded.
import { GatewayError } from '../../../canonical/index.ts';

/** @throws GatewayError `unsupported`: only requests of the API's own clients can be sent, unchanged */
export function encodeRequest(): never {
  throw new GatewayError(
    'unsupported',
    'This endpoint accepts only unchanged requests of the Interactions API.',
  );
}
