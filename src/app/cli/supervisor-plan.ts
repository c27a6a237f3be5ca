// Plan that `serve --workers N` passes to the supervisor that replaces its process.
import type { LogLevel } from '../../base/telemetry/log.ts';

/** Environment variable with the plan as JSON. */
export const SUPERVISOR_PLAN = 'DRAGOMAN_SUPERVISOR_PLAN';

export interface SupervisorPlan {
  readonly workers: number | 'auto';
  /** Port that all workers listen on. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Command line of a worker, without the port. */
  readonly argv: readonly string[];
}
