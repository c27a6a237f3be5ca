// Installs the packages that `package-lock.json` names where nothing is installed yet, so that `npm start` and `npm test` work
// in a fresh clone. Plain JavaScript for any Node from 20 on. It imports no package: there is none yet.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the locked packages unless they are there. `npm ci` fetches nothing that the lock file does not name.
 * Ends this process with npm's exit code where the install fails.
 * @param root folder of the package
 * @param withTests true: also the packages that only tests need
 */
export function ensureInstalled(root, withTests) {
  const has = (name) => existsSync(join(root, 'node_modules', name, 'package.json'));
  // A package that npm installed has no lock file, and its packages lie beside it.
  if (!existsSync(join(root, 'package-lock.json'))) return;
  if (has('bun') && (!withTests || has('typescript'))) return;
  const args = ['ci', '--no-audit', '--no-fund', ...(withTests ? [] : ['--omit=dev'])];
  console.error(
    `Packages are not installed yet: running \`npm ${args.join(' ')}\` first, for about a minute.`,
  );
  // Standard output belongs to the program; progress goes to standard error.
  const { status } = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  console.error('The packages could not be installed. Check the network, then run `npm install`.');
  process.exit(status || 1);
}
