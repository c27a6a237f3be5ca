// Requests reach the Interactions API in their client's own bytes, or not at all.
import { GatewayError } from '../../../canonical/index.ts';

/** @throws GatewayError `unsupported`: only what a client of the API itself wrote is sent to it, as it is */
export function encodeRequest(): never {
  throw new GatewayError(
    'unsupported',
    'this endpoint takes requests of the Interactions API only, and only as their client wrote them',
  );
}
