// Reads a token from a file that another program updates, each time it is needed.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { GatewayError } from '../canonical/index.ts';

/**
 * @param what description for messages, which do not contain the path
 * @throws GatewayError `authentication` when it cannot be read, or is empty
 */
export async function readTokenFile(path: string, what: string): Promise<string> {
  const refuse = (cause: string): never => {
    throw new GatewayError('authentication', `${what} cannot be read`, { fault: 'upstream', cause });
  };
  const text = await readSmall(path).catch((error: unknown) => refuse(String(error)));
  return text.trim() || refuse(`${path} is empty`);
}

/** Maximum bytes of a token. */
const MOST_BYTES = 65_536;

/** Reads regular files only, because pipes and devices may never end. */
async function readSmall(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES + 1), 0, MOST_BYTES + 1, 0);
    if (bytesRead > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
