// How to type a command in hints: by name if it is in the PATH, by path if it is a single executable, otherwise through
// npx, which must not download anything.
import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { executablePath } from '../../base/runtime/machine.ts';
import { readEnvironment } from '../../base/runtime/environment.ts';

/** A command line that works in this shell. @param rest arguments after the program's name */
export function inThisShell(rest: string): string {
  return `${isKnown() ? 'dragoman' : (ownPath() ?? 'npx --no dragoman')} ${rest}`;
}

let known: boolean | undefined;

function isKnown(): boolean {
  return (known ??= (readEnvironment()['PATH'] ?? '')
    .split(delimiter)
    // npm and npx prepend folders of a project to the PATH, only for what they run.
    .filter((folder) => folder !== '' && !folder.includes('node_modules'))
    .some((folder) => existsSync(join(folder, process.platform === 'win32' ? 'dragoman.cmd' : 'dragoman'))));
}

/** Path as typed in this folder. `null`: not a single executable, or one of a package with a launcher. */
function ownPath(): string | null {
  const path = executablePath();
  if (path === null || existsSync(join(dirname(dirname(path)), 'bin', 'dragoman.mjs'))) return null;
  return dirname(path) === process.cwd() ? `./${basename(path)}` : path;
}
