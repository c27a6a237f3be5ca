// Runs the supervisor of workers until stopped. Does not load the configuration, whose reader would use most of its
// memory.
import { availableParallelism } from 'node:os';
import { MemoryAnswerStore } from '../../cluster/exchange/index.ts';
import { LEASE_MS, MemoryCounterStore } from '../../accounts/limits/index.ts';
import { systemClock } from '../../base/runtime/clock.ts';
import { outliveOutput, writeLog } from './log-output.ts';
import { startWorker, WORKER } from '../../base/runtime/worker-process.ts';
import { createLogger } from '../../base/telemetry/log.ts';
import { answerAnswers, counterAnswers, FailedStart, Supervisor } from '../../cluster/workers/index.ts';
import { printWelcome } from './print-welcome.ts';
import { launcherPid, untilSignal } from './signals.ts';
import { SUPERVISOR_PLAN, type SupervisorPlan } from './supervisor-plan.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the supervisor's plan. @param environment contains the plan @returns the exit code */
export async function supervisePlanned(environment: Environment): Promise<number> {
  outliveOutput();
  const { [SUPERVISOR_PLAN]: plan = '', ...others } = environment;
  return supervise(JSON.parse(plan) as SupervisorPlan, others);
}

/** Runs workers until stopped. @param environment also passed to the workers @returns the exit code */
export async function supervise(plan: SupervisorPlan, environment: Environment): Promise<number> {
  const { workers, port, logLevel, argv } = plan;
  const supervisor = new Supervisor({
    count: workers === 'auto' ? availableParallelism() : workers,
    start: (worker, onMessage) =>
      startWorker(
        ['serve', ...argv, '--port', String(port)],
        // A worker ends when this process is gone, as with a launcher.
        { ...environment, [WORKER]: String(worker), DRAGOMAN_LAUNCHER_PID: String(process.pid) },
        onMessage,
      ),
    answers: {
      ...counterAnswers(new MemoryCounterStore({ leaseMs: LEASE_MS }), systemClock.now),
      ...answerAnswers(new MemoryAnswerStore(() => performance.now())),
    },
    clock: systemClock,
    log: createLogger({
      level: logLevel,
      write: writeLog,
      now: systemClock.wall,
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
    // The worker has already reported the reason.
    if (error instanceof FailedStart) return error.exitCode || 1;
    throw error;
  }
  await supervisor.stop(await stopped);
  return 0;
}
