// Finds what the launcher runs: what `npm run pack` made, or the sources. `dragoman` does the same for shells.
import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** When a file or folder was written, in milliseconds; 0 when there is none. */
function writtenAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** True when this folder, or anything in it, was written after a time in milliseconds. */
function isNewer(folder, time) {
  if (writtenAt(folder) > time) return true;
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? isNewer(path, time) : writtenAt(path) > time;
  });
}

/** True when nothing that the packed program was made of is newer than it. */
function isCurrent(root, time) {
  return (
    writtenAt(join(root, 'node_modules', '.package-lock.json')) <= time && !isNewer(join(root, 'src'), time)
  );
}

/**
 * Path of the program: the packed one while it is current, else that of the sources. Where the package is installed in
 * another it is taken as it is: nobody edits it there, and its files were all written at once.
 * @param root the folder of the package
 */
export function findProgram(root) {
  const packed = join(root, 'dist', 'main.js');
  const time = writtenAt(packed);
  const isInstalled = root.split(sep).includes('node_modules');
  return time > 0 && (isInstalled || isCurrent(root, time)) ? packed : join(root, 'src', 'main.ts');
}
