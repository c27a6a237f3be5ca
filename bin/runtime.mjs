// Finds the Bun that npm installed, and turns this process into it. Plain JavaScript for Node 20 and later, because it
// runs before anything else.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** Folder of this package. */
export const packageRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Interval of timed garbage collections in milliseconds, which Bun reads before any other code runs. The default, a second,
 * causes 0.75 collections per hundred requests at 200 a second instead of 0.48 (`bench/tail.ts`).
 */
export const RUNTIME_ENVIRONMENT = { BUN_GC_TIMER_INTERVAL: '30000' };

/**
 * Finds the Bun executable. The `bun` package links it in an install script, which may not have run
 * (`npm install --ignore-scripts`). The package of the platform always contains it.
 * @returns its path; null if there is none
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

/**
 * Command that runs Bun. Ends this process with exit code 1 if Bun is not installed.
 * @param args arguments of Bun
 * @returns file and arguments
 */
export function bunCommand(args) {
  const bun = findBun();
  if (bun !== null) return [bun, ...args];
  console.error(
    'Bun is not installed: run `npm install` in the folder of this package (with optional dependencies).',
  );
  return process.exit(1);
}

/**
 * Runs a command in place of this process. Node 22.15, 23.11 and later replace the process, except on Windows. Otherwise
 * this process forwards signals to the command and exits as it does.
 */
export function become([file, ...args]) {
  const env = { ...RUNTIME_ENVIRONMENT, ...process.env };
  delete env.DRAGOMAN_LAUNCHER_PID;
  // The packed executable would behave like Bun itself.
  delete env.BUN_BE_BUN;
  if (process.execve && process.platform !== 'win32') process.execve(file, [file, ...args], env);
  // The program ends when this process was killed: see src/app/cli/signals.ts.
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
