// Commands that start the gateway: packed by `npm run pack`, or from the sources. Plain JavaScript for Node 20 and later.
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { bunCommand, packageRoot } from './runtime.mjs';

export { RUNTIME_ENVIRONMENT } from './runtime.mjs';

/** Modification time of a file or folder in milliseconds; 0 if there is none. */
function writtenAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** True if a folder or anything in it was modified after a time in milliseconds. */
function isNewer(folder, time) {
  if (writtenAt(folder) > time) return true;
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? isNewer(path, time) : writtenAt(path) > time;
  });
}

/** True if no source or package was modified after the program was packed, at a time in milliseconds. */
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
 * Finds the program: the packed one if it is newer than its sources, otherwise the sources. A package in `node_modules` is
 * not edited, so its packed program is always used.
 * @param root folder of the package
 * @returns path of an executable, or of a script for Bun
 */
export function findProgram(root) {
  const script = join(root, 'dist', 'main.js');
  const executable = join(root, 'dist', 'dragoman');
  const time = writtenAt(script);
  const isInstalled = root.split(sep).includes('node_modules');
  if (time === 0 || !(isInstalled || isCurrent(root, time))) return join(root, 'src', 'app', 'main.ts');
  return canRun(executable) ? executable : script;
}

/**
 * Command that runs the program of this package.
 * @param args arguments of the program
 * @returns file and arguments
 */
export function programCommand(args) {
  const program = findProgram(packageRoot);
  return /\.[jt]s$/.test(program) ? scriptCommand([program, ...args]) : [program, ...args];
}

/**
 * Command that runs the sources, and starts them again after each change.
 * @param args arguments of the program
 * @returns file and arguments
 */
export function developmentCommand(args) {
  return scriptCommand(['--watch', join(packageRoot, 'src', 'app', 'main.ts'), ...args]);
}

/** Bun reads `bunfig.toml`, whose preloads are code, and `.env` from the current folder, unless it is told not to. */
function scriptCommand(args) {
  return bunCommand([`--config=${join(packageRoot, 'bin', 'bunfig.toml')}`, '--no-env-file', ...args]);
}
