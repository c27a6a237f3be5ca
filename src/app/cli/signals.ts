// Signals that stop or reload a long-running command.
import type { UnixMs } from '../../base/units.ts';

/**
 * Time within which a second signal counts as the same stop: terminals and service managers signal every process, and
 * the launcher forwards its own.
 */
const SAME_STOP_MS = 1_000;
const LAUNCHER_LOOK_MS = 500;

/** SIGTERM: from a service manager; load balancers may have to notice. SIGINT: from a user at a terminal. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** Exit codes of shells for a process ended by a signal. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGTERM: 143, SIGINT: 130 };

/**
 * Resolves at the first signal, or with SIGINT when the launcher has been killed and could not forward one. Another
 * signal a second or more later ends the process immediately.
 * @param launcherPid process id of the launcher; undefined: none
 */
export function untilSignal(launcherPid?: number): Promise<StopSignal> {
  return new Promise((resolve) => {
    let stoppedAt: UnixMs | undefined;
    const stop = (signal: StopSignal): void => {
      stoppedAt ??= performance.now();
      if (performance.now() - stoppedAt >= SAME_STOP_MS) process.exit(EXIT_CODES[signal]);
      clearInterval(look);
      resolve(signal);
    };
    const look = setInterval(() => {
      if (launcherPid !== undefined && process.ppid !== launcherPid) stop('SIGINT');
    }, LAUNCHER_LOOK_MS);
    look.unref();
    process.on('SIGINT', () => stop('SIGINT'));
    process.on('SIGTERM', () => stop('SIGTERM'));
  });
}

/** Process id of the launcher, from the environment. */
export function launcherPid(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const pid = Number(environment['DRAGOMAN_LAUNCHER_PID']);
  return Number.isInteger(pid) && pid > 0 && pid === process.ppid ? pid : undefined;
}

/** Registers a callback for SIGHUP. @returns a function that removes it */
export function onHangup(reload: () => void): () => void {
  process.on('SIGHUP', reload);
  return () => process.off('SIGHUP', reload);
}
