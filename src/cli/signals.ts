// When a long-running command has to end, or to read again what it was started with. Knows nothing of what is then done.

/** One stop often arrives twice: a terminal or a service manager signals every process, and the launcher passes its own on. */
const SAME_STOP_MS = 1_000;
const LAUNCHER_LOOK_MS = 500;

/**
 * Resolves at the first SIGTERM or SIGINT, or when the launcher is gone: killed outright, it could not pass anything
 * on. Another signal a second or more later ends the process at once.
 * @param launcherPid process id of the launcher; undefined when there is none
 */
export function untilSignal(launcherPid?: number): Promise<void> {
  return new Promise((resolve) => {
    let stoppedAt: number | undefined;
    const on = (exitCode: number) => (): void => {
      stoppedAt ??= performance.now();
      if (performance.now() - stoppedAt >= SAME_STOP_MS) process.exit(exitCode);
      clearInterval(look);
      resolve();
    };
    const look = setInterval(() => {
      if (launcherPid !== undefined && process.ppid !== launcherPid) on(143)();
    }, LAUNCHER_LOOK_MS);
    look.unref();
    process.on('SIGINT', on(130));
    process.on('SIGTERM', on(143));
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
