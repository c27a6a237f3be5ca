// Restricts access to the gateway's files to their owner. Corrects permissions of existing files, and refuses paths that
// another user could replace.
import { chmodSync, lstatSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { GatewayError } from '../../canonical/index.ts';
import { userId } from '../../base/runtime/machine.ts';

/** Permission bits of group and others. */
const OTHERS = 0o077;
/** Sticky bit of shared directories such as `/tmp`, which must not be closed. */
const STICKY = 0o1000;
const ROOT = 0;

/**
 * Removes the permissions of group and others from a file or directory.
 * @param path an existing path
 * @param uid user id of this process; undefined on systems without user ids
 * @returns a sentence about what was changed or could not be changed; null: nothing to do
 * @throws GatewayError `internal` if it belongs to another user, who could read and replace it
 */
export function closeToOthers(path: string, uid: number | undefined = userId()): string | null {
  if (uid === undefined) return null;
  const stats = statSync(path);
  // Root has full access anyway, so that it does not matter who owns a mounted volume.
  const isForeign = stats.uid !== uid && stats.uid !== ROOT;
  if (isForeign && uid !== ROOT) {
    throw new GatewayError(
      'internal',
      `${path} belongs to another user (uid ${stats.uid}), who can read and replace its content. Change its owner (chown ${uid}), or use another data directory.`,
    );
  }
  const owner = isForeign ? ` It belongs to uid ${stats.uid}, who can still read it.` : '';
  const mode = stats.mode & 0o777;
  if ((mode & OTHERS) === 0) return owner === '' ? null : `${path} belongs to another user.${owner}`;
  const was = `${path} was accessible to other users (mode ${octal(mode)})`;
  const closed = isShared(stats) ? null : close(path, mode & ~OTHERS);
  return closed === null
    ? `${was}, and its mode cannot be changed. Other users can read keys and stored content.${owner}`
    : `${was}; the mode is now ${octal(closed)}.${owner}`;
}

/** Write permissions of group and others. */
const WRITABLE = 0o022;

/**
 * Refuses a symbolic link in a directory that others can write to. It could redirect writes to another file.
 * @param path a path that may not exist
 * @throws GatewayError `internal`
 */
export function refuseForeignLink(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isSymbolicLink() || (statSync(dirname(path)).mode & WRITABLE) === 0) return;
  throw new GatewayError(
    'internal',
    `${path} is a link in a directory that other users can write to. Use another data directory, or put the file itself there.`,
  );
}

function isShared(stats: Stats): boolean {
  return stats.isDirectory() && (stats.mode & STICKY) !== 0;
}

/** Changes the mode. @returns the new mode; null if that is not permitted */
function close(path: string, mode: number): number | null {
  try {
    chmodSync(path, mode);
    return mode;
  } catch {
    return null;
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
