// `dragoman serve --workers N`: prepares the supervisor's plan and becomes the supervisor.
import type { Config } from '../config/index.ts';
import { become } from '../../base/runtime/worker-process.ts';
import { listenOrExplain } from './listen-or-explain.ts';
import { supervise } from './supervise.ts';
import { SUPERVISOR_PLAN, type SupervisorPlan } from './supervisor-plan.ts';

export interface WorkersInput {
  readonly config: Config;
  readonly workers: number | 'auto';
  /** Command line of a worker, without the port. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Runs workers until stopped. @returns the exit code */
export async function serveWorkers({ config, workers, argv, environment }: WorkersInput): Promise<number> {
  const plan: SupervisorPlan = {
    workers,
    port: await freePort(config),
    logLevel: config.logging.level,
    argv,
  };
  // Replaces the process, because reading the configuration used more memory than a supervisor needs.
  become(['serve', ...argv], { ...environment, [SUPERVISOR_PLAN]: JSON.stringify(plan) });
  return supervise(plan, environment);
}

/**
 * The port for the workers. It is checked here, because workers share ports and could not detect another program on it.
 * Throws GatewayError when it is in use.
 */
async function freePort({ server: { host, port } }: Config): Promise<number> {
  const probe = listenOrExplain({
    hostname: host,
    port,
    maxBodyBytes: 0,
    hot: {},
    fallback: () => new Response(null, { status: 503 }),
  });
  await probe.stop();
  return probe.port;
}
