// A token in a file that somebody else keeps fresh: read each time that it is needed.
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../canonical/index.ts';

/**
 * @param what it is, for messages: the path is the operator's business
 * @throws GatewayError `authentication` when it cannot be read, or is empty
 */
export async function readTokenFile(path: string, what: string): Promise<string> {
  const refuse = (cause: string): never => {
    throw new GatewayError('authentication', `${what} cannot be read`, { fault: 'upstream', cause });
  };
  const text = await readFile(path, 'utf8').catch((error: unknown) => refuse(String(error)));
  return text.trim() || refuse(`${path} is empty`);
}
