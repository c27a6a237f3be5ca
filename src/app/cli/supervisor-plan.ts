// Plan that `serve --workers N` leaves to the supervisor that its process becomes.
import type { LogLevel } from '../../base/telemetry/log.ts';

/** Variable that holds a supervisor's plan, as JSON. */
export const SUPERVISOR_PLAN = 'DRAGOMAN_SUPERVISOR_PLAN';

/** Plan of a supervisor. */
export interface SupervisorPlan {
  readonly workers: number | 'auto';
  /** Port that all workers listen on. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** The command line of `serve` that a worker is started with, besides the port. */
  readonly argv: readonly string[];
}
