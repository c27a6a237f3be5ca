// Memory that is a file: what is written there survives the death of the process without a call of the system. Not that of
// the machine.
import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * Makes a file of zeros and maps it.
 * @param path of no file
 * @throws Error as the system has it, e.g. for a full disk: its room is taken now, so that no later write can fail
 */
export function mapNewFile(path: string, bytes: number): Uint8Array {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    const zeros = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += writeSync(descriptor, zeros, at));
  } finally {
    closeSync(descriptor);
  }
  return Bun.mmap(path, { shared: true });
}
