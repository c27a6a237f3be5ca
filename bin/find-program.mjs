// Finds what the launcher runs: what `npm run pack` made, or the sources. `dragoman` does the same for shells.
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
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
    writtenAt(join(root, 'node_modules', '.package-lock.json')) <= time &&
    !['src', 'sim'].some((folder) => isNewer(join(root, folder), time))
  );
}

function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the program: the packed one while it is current, else that of the sources. Where the package is installed in another it is
 * taken as it is: nobody edits it there, and its files were all written at once.
 * @param root the folder of the package
 * @returns its path: of an executable, which needs nothing else, or of a script for the runtime
 */
export function findProgram(root) {
  const script = join(root, 'dist', 'main.js');
  const executable = join(root, 'dist', 'dragoman');
  const time = writtenAt(script);
  const isInstalled = root.split(sep).includes('node_modules');
  if (time === 0 || !(isInstalled || isCurrent(root, time))) return join(root, 'src', 'app', 'main.ts');
  return canRun(executable) ? executable : script;
}
