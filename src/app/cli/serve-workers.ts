// `dragoman serve --workers N`: finds out what a supervisor has to know, and becomes one.
import type { Config } from '../config/index.ts';
import { become } from '../../base/runtime/worker-process.ts';
import { listenOrExplain } from './listen-or-explain.ts';
import { supervise } from './supervise.ts';
import { SUPERVISOR_PLAN, type SupervisorPlan } from './supervisor-plan.ts';

export interface WorkersInput {
  readonly config: Config;
  readonly workers: number | 'auto';
  /** The command line that a worker is started with, besides the port. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Runs workers until it is told to stop. @returns the exit code */
export async function serveWorkers({ config, workers, argv, environment }: WorkersInput): Promise<number> {
  const plan: SupervisorPlan = {
    workers,
    port: await freePort(config),
    logLevel: config.logging.level,
    argv,
  };
  // Reading the configuration took more memory than all that a supervisor does.
  become(['serve', ...argv], { ...environment, [SUPERVISOR_PLAN]: JSON.stringify(plan) });
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
