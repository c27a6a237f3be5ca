// A small disk that a test can fill: a file system of its own in memory.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '../support/program.ts';

/** The database, its log and a journal at the start, and little more. */
const DISK_MB = 16;

/**
 * Folder where it is mounted, and how to give it up. Null where mounting is not allowed.
 * @param megabytes of the whole disk
 */
export function smallDisk(
  megabytes = DISK_MB,
): { readonly folder: string; readonly remove: () => void } | null {
  const { folder, remove } = freshFolder();
  const size = `size=${megabytes}m`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder]).status !== 0) {
    remove();
    return null;
  }
  const unmount = (): void => {
    spawnSync('umount', ['-l', folder]);
    remove();
  };
  return { folder, remove: unmount };
}

/** Takes all the room that a disk has left. @returns how to give it back */
export function fillDisk(folder: string): () => void {
  const ballast = join(folder, 'ballast');
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']);
  return () => rmSync(ballast);
}

export const mayMount = process.platform === 'linux' && process.getuid?.() === 0 && isMountable();
if (!mayMount) console.log('skipped: a disk that is full, since no file system may be mounted here');

function isMountable(): boolean {
  const disk = smallDisk();
  disk?.remove();
  return disk !== null;
}
