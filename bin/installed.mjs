// Installs the locked packages if none are installed, so that `npm start` and `npm test` work in a fresh clone. Plain
// JavaScript for Node 20 and later, without packages.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the packages of `package-lock.json` if they are missing. Ends this process with npm's exit code if that fails.
 * @param root folder of the package
 * @param withTests true: includes the packages that only tests need
 */
export function ensureInstalled(root, withTests) {
  const has = (name) => existsSync(join(root, 'node_modules', name, 'package.json'));
  // An installed package has no lock file: npm installed its dependencies as well.
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
