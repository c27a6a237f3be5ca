// `dragoman serve --workers N`: a supervisor that keeps workers running, and says what one gateway would have said.
import { availableParallelism } from 'node:os';
import { type Config, readEnvironment } from '../config/index.ts';
import { MemoryCounterStore } from '../limits/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { startWorker, WORKER } from '../runtime/worker-process.ts';
import { createLogger } from '../telemetry/log.ts';
import { counterAnswers, FailedStart, Supervisor, type Welcome } from '../workers/index.ts';
import { listenOrExplain } from './listen-or-explain.ts';
import { LEASE_MS } from './open-sharing.ts';
import { untilSignal } from './signals.ts';

export interface WorkersInput {
  readonly config: Config;
  readonly workers: number | 'auto';
  /** The command line that a worker is started with, besides the port. */
  readonly argv: readonly string[];
  /** Process id of the launcher; undefined when there is none. */
  readonly launcher: number | undefined;
  /** Tells the person who started it. */
  readonly welcome: (welcome: Welcome) => void;
}

/** Runs workers until it is told to stop. @returns the exit code */
export async function serveWorkers(input: WorkersInput): Promise<number> {
  const { config, workers, argv } = input;
  const log = createLogger({
    level: config.logging.level,
    write: (line) => void process.stderr.write(line),
    now: systemClock.now,
    pretty: process.stderr.isTTY === true,
  });
  const environment = readEnvironment();
  const port = await freePort(config);
  const supervisor = new Supervisor({
    count: workers === 'auto' ? availableParallelism() : workers,
    start: (worker, onMessage) =>
      startWorker(
        ['serve', ...argv, '--port', String(port)],
        // A worker ends when this process is gone, as one ends whose launcher is gone.
        { ...environment, [WORKER]: String(worker), DRAGOMAN_LAUNCHER_PID: String(process.pid) },
        onMessage,
      ),
    answers: counterAnswers(new MemoryCounterStore({ leaseMs: LEASE_MS })),
    clock: systemClock,
    log,
  });
  const stopped = untilSignal(input.launcher);
  process.on('SIGHUP', () => supervisor.reload());
  process.on('SIGUSR2', () => void supervisor.restart());
  try {
    const welcome = await Promise.race([supervisor.start(), stopped.then(() => null)]);
    if (welcome) input.welcome(welcome);
  } catch (error) {
    // It has said why.
    if (error instanceof FailedStart) return error.exitCode || 1;
    throw error;
  }
  await stopped;
  await supervisor.stop();
  return 0;
}

/**
 * The port that workers will share. Nobody else must have it, which they could not find out: they are willing to share it.
 * Throws GatewayError when it is taken.
 */
async function freePort({ server: { host, port } }: Config): Promise<number> {
  const nobody = listenOrExplain({
    hostname: host,
    port,
    maxBodyBytes: 0,
    hot: {},
    fallback: () => new Response(null, { status: 503 }),
  });
  await nobody.stop();
  return nobody.port;
}
