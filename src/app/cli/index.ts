// Entry point: runs the command of the command line, or the role of the process. Each is loaded on demand.
import { readEnvironment } from '../../base/runtime/environment.ts';
import { runOnce } from '../../base/runtime/one-time-code.ts';
import { SUPERVISOR_PLAN } from './supervisor-plan.ts';

/** Runs to the end, and exits or sets the exit code. */
export async function run(): Promise<void> {
  const environment = readEnvironment();
  if (environment[SUPERVISOR_PLAN] !== undefined) {
    const { supervisePlanned } = await import('./supervise.ts');
    return process.exit(await supervisePlanned(environment));
  }
  const { runCommand } = await runOnce(() => import('./run-command.ts'));
  process.exitCode = await runCommand(process.argv.slice(2));
  // A failed command may have left sockets open, which would keep the process running.
  if (process.exitCode !== 0) process.exit();
}
