// Report of a request once it is over, for its observers: metrics, traces, alerts. Neither the request nor its
// answer waits for them.
import type { Principal } from '../accounts/auth/index.ts';
import type { AttemptRecord, GenerationRecord } from '../accounts/ledger/index.ts';
import type { TraceContext } from '../base/telemetry/trace-context.ts';
import type { UnixMs } from '../base/units.ts';

/** A call of a tool that the gateway ran itself. */
export interface ToolRun {
  readonly name: string;
  /** Label of the MCP server; null for the gateway's own. */
  readonly server: string | null;
  readonly startedAt: UnixMs;
  readonly endedAt: UnixMs;
  readonly isError: boolean;
}

/** A request that is over, with what its records do not say. */
export interface Settlement {
  readonly generation: GenerationRecord;
  /** In their order. */
  readonly attempts: readonly AttemptRecord[];
  /** The gateway's id of the model of each attempt. */
  readonly models: readonly string[];
  /** Calls of tools that the gateway ran, in the order of their ends. */
  readonly toolRuns: readonly ToolRun[];
  /** Caller. */
  readonly principal: Principal;
  /** Place among traces; null where none are made. */
  readonly trace: TraceContext | null;
  /** Error of the ledger where it did not write it; undefined where it did. */
  readonly unrecorded?: unknown;
}

export interface SettlementObserver {
  /** A request is over. Called once for each; takes microseconds, and never throws. */
  settled(settlement: Settlement): void;
}
