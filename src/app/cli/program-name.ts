// How a command is typed where a hint is printed: by its name where the shell knows it, by its path where it is one executable,
// else through npx, which must fetch nothing.
import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { executablePath } from '../../base/runtime/machine.ts';
import { readEnvironment } from '../../base/runtime/environment.ts';

/** A command line that works in this shell. @param rest what follows the program's name */
export function inThisShell(rest: string): string {
  return `${isKnown() ? 'dragoman' : (ownPath() ?? 'npx --no dragoman')} ${rest}`;
}

let known: boolean | undefined;

function isKnown(): boolean {
  return (known ??= (readEnvironment()['PATH'] ?? '')
    .split(delimiter)
    // npm and npx put the folders of a project in front, for what they run alone.
    .filter((folder) => folder !== '' && !folder.includes('node_modules'))
    .some((folder) => existsSync(join(folder, process.platform === 'win32' ? 'dragoman.cmd' : 'dragoman'))));
}

/** As it is typed in this folder. `null`: no executable, or that of a package, which has a launcher. */
function ownPath(): string | null {
  const path = executablePath();
  if (path === null || existsSync(join(dirname(dirname(path)), 'bin', 'dragoman.mjs'))) return null;
  return dirname(path) === process.cwd() ? `./${basename(path)}` : path;
}
