// Programs that nobody here wrote, which tests start and stop: the environment names their files.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

/** A program has instructions that this processor does not know. */
export class ForeignProcessorError extends Error {}

/** The file that a variable names, or null after a line that says what is skipped. */
export function programIn(variable: string, what: string): string | null {
  const path = process.env[variable];
  if (path && existsSync(path)) return path;
  console.log(`skipped: tests with ${what} (${variable} names no program)`);
  return null;
}

/**
 * Starts a server and waits for a line of it.
 * @param program whose lines are read
 * @param ready what the line says
 * @returns what ends it
 */
export async function run(
  program: string,
  args: readonly string[],
  ready: RegExp,
  environment: Readonly<Record<string, string>> = {},
): Promise<() => Promise<void>> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    // The program may be a script that starts another: all of them are ended.
    detached: true,
  });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', end);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      if (said.length < 100_000) said += bytes.toString();
      if (ready.test(said)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (_code, signal) =>
      reject(
        signal === 'SIGILL'
          ? new ForeignProcessorError(program)
          : new Error(`${program} did not start: ${said.slice(-2000)}`),
      ),
    );
  });
  child.unref();
  return async () => {
    process.removeListener('exit', end);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    end();
    await ended;
  };
}
