// The two errors of a pattern or grammar that cannot be used.
import { GatewayError, invalidMember } from '../../canonical/index.ts';

/** Error for an invalid text. @param path of the text in the client's body */
export function broken(path: string, message: string): GatewayError {
  return invalidMember(path, message);
}

/** Error for a text that may be valid but cannot be checked. The message follows "not checked: ". */
export function cannotCheck(path: string, message: string): GatewayError {
  return new GatewayError('unsupported', message, { param: path });
}
