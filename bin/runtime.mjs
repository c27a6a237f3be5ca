// Finds the Bun that came with `npm install` and runs it. Plain JavaScript for any Node from 20 on: it must work
// before anything else does.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** The folder of this package. */
export const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Path of the Bun executable; null when there is none. The `bun` package links its binary in an install script,
 * which may not have run (`npm install --ignore-scripts`): the platform's own package has it in any case.
 */
function findBun() {
  const { platform, arch } = process;
  const os = platform === 'win32' ? 'windows' : platform;
  const cpu = arch === 'arm64' ? 'aarch64' : arch;
  const packages = [`@oven/bun-${os}-${cpu}`, `@oven/bun-${os}-${cpu}-musl`, 'bun'];
  for (const name of packages) {
    for (const file of ['bun', 'bun.exe']) {
      try {
        const path = join(dirname(require.resolve(`${name}/package.json`)), 'bin', file);
        if (existsSync(path)) return path;
      } catch {
        // Not the package of this platform.
      }
    }
  }
  return null;
}

/** Runs Bun with these arguments. */
export function runBun(args) {
  const bun = findBun();
  if (bun === null) {
    console.error(
      'Bun is not installed: run `npm install` in the folder of this package (with optional dependencies).',
    );
    process.exit(1);
  }
  run(bun, args);
}

/**
 * Runs Bun, or an executable that has it in it, with these arguments: this process becomes it where Node can do that (from
 * 22.15 and 23.11 on, not on Windows). Elsewhere this process stays, and ends as that ends, signals included.
 */
export function run(file, args) {
  // Bun reads both before any of our code runs. 65535 is the largest limit; the default of 256 would queue requests in
  // silence. A collection each second, the default, comes on top of those that requests cause: 0.75 for each hundred requests
  // at 200 a second instead of 0.48 (`bench/tail.ts`). Milliseconds.
  const env = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535', BUN_GC_TIMER_INTERVAL: '30000', ...process.env };
  delete env.DRAGOMAN_LAUNCHER_PID;
  // An executable would be nothing but Bun then.
  delete env.BUN_BE_BUN;
  if (process.execve && process.platform !== 'win32') process.execve(file, [file, ...args], env);
  // A child has to know whom it must not outlive: see src/app/cli/signals.ts.
  env.DRAGOMAN_LAUNCHER_PID = String(process.pid);
  const child = spawn(file, args, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${file} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
