// Only the owner may read the gateway's files. Mends the modes of what was there before, and refuses what another
// user could replace. Knows nothing of what the files hold.
import { chmodSync, lstatSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { GatewayError } from '../canonical/index.ts';
import { userId } from '../base/runtime/machine.ts';

/** Permission bits of everybody but the owner. */
const OTHERS = 0o077;
/** Anybody may make files in such a directory, as in `/tmp`: it is everybody's, and closing it would break it. */
const STICKY = 0o1000;
const ROOT = 0;

/**
 * Closes a file or directory to everybody but its owner.
 * @param path of something that is there
 * @param uid of this process; undefined where the system has none
 * @returns what was changed, or could not be, as a sentence; null where nothing had to be
 * @throws GatewayError `internal` where it belongs to another user, who could read and replace it at any time
 */
export function closeToOthers(path: string, uid: number | undefined = userId()): string | null {
  if (uid === undefined) return null;
  const stats = statSync(path);
  // Root may do everything everywhere: whether it owns a mounted volume makes no difference.
  const isForeign = stats.uid !== uid && stats.uid !== ROOT;
  if (isForeign && uid !== ROOT) {
    throw new GatewayError(
      'internal',
      `${path} belongs to another user (uid ${stats.uid}), who can read and replace what is kept there. Make it this user's own (chown ${uid}), or use another data directory.`,
    );
  }
  const owner = isForeign ? ` It belongs to uid ${stats.uid}, who can still read it.` : '';
  const mode = stats.mode & 0o777;
  if ((mode & OTHERS) === 0) return owner === '' ? null : `${path} is not this user's own.${owner}`;
  const was = `${path} was open to other users (mode ${octal(mode)})`;
  const closed = isShared(stats) ? null : close(path, mode & ~OTHERS);
  return closed === null
    ? `${was} and cannot be closed: keys and stored texts can be read there.${owner}`
    : `${was}; it is now ${octal(closed)}.${owner}`;
}

/** Group and others may make files in the directory. */
const WRITABLE = 0o022;

/**
 * Refuses a link where others may make one: it would lead what is written to a file of their choice.
 * @param path of something that need not be there
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

/** @returns the new mode; null where the system does not allow it */
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
