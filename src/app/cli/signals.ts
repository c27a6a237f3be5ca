// When a long-running command has to end, or to read again what it was started with. Knows nothing of what is then done.
import type { UnixMs } from '../../base/units.ts';

/** One stop often arrives twice: a terminal or a service manager signals every process, and the launcher passes its own on. */
const SAME_STOP_MS = 1_000;
const LAUNCHER_LOOK_MS = 500;

/** SIGTERM: of whoever runs services, and others may have to notice. SIGINT: somebody waits at a terminal. */
export type StopSignal = 'SIGTERM' | 'SIGINT';

/** Exit codes that shells use for a process that a signal ended. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGTERM: 143, SIGINT: 130 };

/**
 * Resolves at the first of the two, or with SIGINT when the launcher is gone: killed outright, it could not pass anything
 * on. Another signal a second or more later ends the process at once.
 * @param launcherPid process id of the launcher; undefined when there is none
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

/** The process id that the launcher left in the environment. */
export function launcherPid(environment: Readonly<Record<string, string | undefined>>): number | undefined {
  const pid = Number(environment['DRAGOMAN_LAUNCHER_PID']);
  return Number.isInteger(pid) && pid > 0 && pid === process.ppid ? pid : undefined;
}

/** Calls back on a hangup signal. @returns how to stop */
export function onHangup(reload: () => void): () => void {
  process.on('SIGHUP', reload);
  return () => process.off('SIGHUP', reload);
}
