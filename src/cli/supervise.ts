// Runs the supervisor of workers until it is told to stop. Knows nothing of the configuration, whose reader would be most of
// what this process holds.
import { availableParallelism } from 'node:os';
import { MemoryAnswerStore } from '../exchange/index.ts';
import { LEASE_MS, MemoryCounterStore } from '../limits/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { startWorker, WORKER } from '../runtime/worker-process.ts';
import { createLogger, type LogLevel } from '../telemetry/log.ts';
import { answerAnswers, counterAnswers, FailedStart, Supervisor } from '../workers/index.ts';
import { printWelcome } from './print-welcome.ts';
import { launcherPid, untilSignal } from './signals.ts';

/** Where a supervisor's program finds its plan, as JSON, in its environment. */
export const SUPERVISOR_PLAN = 'DRAGOMAN_SUPERVISOR_PLAN';

/** What a supervisor has to know. */
export interface SupervisorPlan {
  readonly workers: number | 'auto';
  /** That all workers listen on. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** The file that a worker runs, and the command line of `serve` that it is started with, besides the port. */
  readonly program: string;
  readonly argv: readonly string[];
}

/** Runs workers until it is told to stop. @param environment also that of the workers @returns the exit code */
export async function supervise(
  plan: SupervisorPlan,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const { workers, port, logLevel, program, argv } = plan;
  const supervisor = new Supervisor({
    count: workers === 'auto' ? availableParallelism() : workers,
    start: (worker, onMessage) =>
      startWorker(
        program,
        ['serve', ...argv, '--port', String(port)],
        // A worker ends when this process is gone, as one ends whose launcher is gone.
        { ...environment, [WORKER]: String(worker), DRAGOMAN_LAUNCHER_PID: String(process.pid) },
        onMessage,
      ),
    answers: {
      ...counterAnswers(new MemoryCounterStore({ leaseMs: LEASE_MS })),
      ...answerAnswers(new MemoryAnswerStore(() => performance.now())),
    },
    clock: systemClock,
    log: createLogger({
      level: logLevel,
      write: (line) => void process.stderr.write(line),
      now: systemClock.now,
      pretty: process.stderr.isTTY === true,
    }),
  });
  const stopped = untilSignal(launcherPid(environment));
  process.on('SIGHUP', () => supervisor.reload());
  process.on('SIGUSR2', () => void supervisor.restart());
  try {
    const welcome = await Promise.race([supervisor.start(), stopped.then(() => null)]);
    if (welcome) printWelcome(welcome);
  } catch (error) {
    // It has said why.
    if (error instanceof FailedStart) return error.exitCode || 1;
    throw error;
  }
  await supervisor.stop(await stopped);
  return 0;
}
