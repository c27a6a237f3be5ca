// Starts the program again as a worker process with a message channel to its parent.

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variable that makes a process a worker: the worker's number. */
export const WORKER = 'DRAGOMAN_WORKER';

export interface WorkerProcess {
  readonly pid: number;
  /** Sends a message. Does nothing once the process has ended. */
  send(message: unknown): void;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGHUP'): void;
  /** Exit code; 128 plus the signal number if a signal ended the process. */
  readonly exited: Promise<number>;
}

/** Command that starts this program: the standalone executable, or Bun with the source file. */
const PROGRAM = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, ...process.execArgv, Bun.main];

/**
 * Replaces this process by a new run of the program with the same process id (`execve`). Returns on systems without it.
 * @param argv arguments of the new run
 * @param environment environment of the new run
 */
export function become(argv: readonly string[], environment: Environment): void {
  process.execve?.(process.execPath, [...PROGRAM, ...argv], environment as NodeJS.ProcessEnv);
}

/** Starts a worker. Its output goes to that of this process. */
export function startWorker(
  argv: readonly string[],
  environment: Environment,
  onMessage: (message: unknown) => void,
): WorkerProcess {
  const child = Bun.spawn([...PROGRAM, ...argv], {
    env: { ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => onMessage(message),
    // Keeps numbers that JSON cannot express.
    serialization: 'advanced',
  });
  return {
    pid: child.pid,
    send(message) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      try {
        child.send(message);
      } catch {
        // The process is ending. Pending calls fail when `exited` resolves.
      }
    },
    signal: (name) => child.kill(name),
    exited: child.exited,
  };
}

export interface ParentProcess {
  send(message: unknown): void;
  listen(onMessage: (message: unknown) => void): void;
}

/** Parent of a worker process; null if this process is not a worker. */
export function parentProcess(environment: Environment): ParentProcess | null {
  if (environment[WORKER] === undefined || process.send === undefined) return null;
  return {
    send: (message) => {
      if (process.connected) process.send?.(message);
    },
    listen: (onMessage) => void process.on('message', onMessage),
  };
}
