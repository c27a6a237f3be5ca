// `dragoman serve --workers N`: finds out what a supervisor has to know, and becomes one.
import { dirname, extname, join } from 'node:path';
import type { Config } from '../config/index.ts';
import { become, PROGRAM } from '../runtime/worker-process.ts';
import { listenOrExplain } from './listen-or-explain.ts';
import { supervise, SUPERVISOR_PLAN, type SupervisorPlan } from './supervise.ts';

export interface WorkersInput {
  readonly config: Config;
  readonly workers: number | 'auto';
  /** The command line that a worker is started with, besides the port. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The supervisor's own program: beside this one as `cli/supervisor.ts` is beside `main.ts`, packed or not. Reading the
 * configuration takes more memory than all that a supervisor does.
 */
const SUPERVISOR = join(dirname(PROGRAM), 'cli', `supervisor${extname(PROGRAM)}`);

/** Runs workers until it is told to stop. @returns the exit code */
export async function serveWorkers({ config, workers, argv, environment }: WorkersInput): Promise<number> {
  const plan: SupervisorPlan = {
    workers,
    port: await freePort(config),
    logLevel: config.logging.level,
    program: PROGRAM,
    argv,
  };
  become(SUPERVISOR, ['serve', ...argv], { ...environment, [SUPERVISOR_PLAN]: JSON.stringify(plan) });
  return supervise(plan, environment);
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
