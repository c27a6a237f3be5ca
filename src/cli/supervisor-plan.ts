// What `serve --workers N` leaves to the supervisor that its process becomes.
import type { LogLevel } from '../telemetry/log.ts';

/** Where a supervisor finds its plan, as JSON, in its environment. */
export const SUPERVISOR_PLAN = 'DRAGOMAN_SUPERVISOR_PLAN';

/** What a supervisor has to know. */
export interface SupervisorPlan {
  readonly workers: number | 'auto';
  /** That all workers listen on. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** The command line of `serve` that a worker is started with, besides the port. */
  readonly argv: readonly string[];
}
