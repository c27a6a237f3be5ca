// What is told of a request once it is over, to whoever watches: metrics, traces, alerts. Neither the request nor its
// answer waits for them.
import type { Principal } from '../auth/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';

/** A call of a tool that the gateway ran itself. */
export interface ToolRun {
  readonly name: string;
  /** Label of the MCP server; null for the gateway's own. */
  readonly server: string | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
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
  /** Who asked. */
  readonly principal: Principal;
  /** Where it belongs among traces; null where none are made. */
  readonly trace: TraceContext | null;
  /** What the ledger said instead of writing it; undefined where it did write it. */
  readonly unrecorded?: unknown;
}

export interface SettlementObserver {
  /** A request is over. Called once for each; takes microseconds, and never throws. */
  settled(settlement: Settlement): void;
}
