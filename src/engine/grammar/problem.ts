// The two ways in which a pattern or a grammar cannot be used. Knows no syntax.
import { GatewayError } from '../../canonical/index.ts';

/** It is wrong: whoever wrote it must mend it. @param path of the text in the client's body */
export function broken(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, { param: path });
}

/** It may be right, but we cannot check against it. The message continues "not checked: ". */
export function beyondUs(path: string, message: string): GatewayError {
  return new GatewayError('unsupported', message, { param: path });
}
