// Memory-mapped files. Data written to one survives a crash of the process without a system call, but not a power failure.
import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * Creates a file of zeros and maps it. The disk space is allocated now, so that later writes cannot fail.
 * @param path must not exist
 * @throws Error of the system, e.g. for a full disk
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
