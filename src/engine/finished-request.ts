// Report of a finished request for observers: metrics, traces, alerts. Neither the request nor its answer waits for
// them.
import type { Principal } from '../accounts/auth/index.ts';
import type { AttemptRecord, GenerationRecord } from '../accounts/ledger/index.ts';
import type { TraceContext } from '../base/telemetry/trace-context.ts';
import type { UnixMs } from '../base/units.ts';

/** A tool call that the gateway ran itself. */
export interface ToolRun {
  readonly name: string;
  /** Label of the MCP server. Null: the gateway's own tool. */
  readonly server: string | null;
  readonly startedAt: UnixMs;
  readonly endedAt: UnixMs;
  readonly isError: boolean;
}

/** A finished request, with facts that are not in its records. */
export interface FinishedRequest {
  readonly generation: GenerationRecord;
  /** In order. */
  readonly attempts: readonly AttemptRecord[];
  /** The gateway's model id for each attempt. */
  readonly models: readonly string[];
  /** Tool calls that the gateway ran, in the order of their ends. */
  readonly toolRuns: readonly ToolRun[];
  readonly principal: Principal;
  /** Position in a trace. Null: tracing is off. */
  readonly trace: TraceContext | null;
  /** Error of the ledger when the record was not written. Undefined: it was written. */
  readonly unrecorded?: unknown;
}

export interface RequestObserver {
  /** Called once for each finished request. Takes microseconds and never throws. */
  finished(finished: FinishedRequest): void;
}
