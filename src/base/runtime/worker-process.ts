// The program once more, in a process of its own that talks with the one that started it. The only file that knows
// how this runtime does that.

type Environment = Readonly<Record<string, string | undefined>>;

/** Why a worker is one, in its environment: its number. */
export const WORKER = 'DRAGOMAN_WORKER';

export interface WorkerProcess {
  readonly pid: number;
  /** Nothing happens once it has ended. */
  send(message: unknown): void;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGHUP'): void;
  /** Its exit code; 128 and the signal's number where a signal ended it. */
  readonly exited: Promise<number>;
}

/** How this program is started: as the executable that it was packed into, or by the runtime from its file. */
const PROGRAM = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, ...process.execArgv, Bun.main];

/**
 * Has this process start anew, under the same id, and with nothing of what it holds in memory. Returns where the system has
 * no such thing.
 * @param argv the arguments @param environment which may say that it is something else from now on
 */
export function become(argv: readonly string[], environment: Environment): void {
  process.execve?.(process.execPath, [...PROGRAM, ...argv], environment as NodeJS.ProcessEnv);
}

/** Starts the program once more, and what it writes goes where ours goes. */
export function startWorker(
  argv: readonly string[],
  environment: Environment,
  onMessage: (message: unknown) => void,
): WorkerProcess {
  const child = Bun.spawn([...PROGRAM, ...argv], {
    env: { ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message) => onMessage(message),
    // Numbers that JSON does not have stay what they are.
    serialization: 'advanced',
  });
  return {
    pid: child.pid,
    send(message) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      try {
        child.send(message);
      } catch {
        // It ends just now: whoever waits for an answer is told by its end.
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

/** The process that started this one as a worker; null where none did. */
export function parentProcess(environment: Environment): ParentProcess | null {
  if (environment[WORKER] === undefined || process.send === undefined) return null;
  return {
    send: (message) => {
      if (process.connected) process.send?.(message);
    },
    listen: (onMessage) => void process.on('message', onMessage),
  };
}
