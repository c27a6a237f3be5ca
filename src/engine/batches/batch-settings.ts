// Dependencies and settings for running batches.
import type { Principal } from '../../accounts/auth/index.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { BatchCodec } from '../../protocols/index.ts';
import type { ApiCall, ByteAccount } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Files } from '../state/files.ts';
import type { Task } from '../tasks/index.ts';
import type { BatchPace } from './batch-pace.ts';
import type { DurationMs } from '../../base/units.ts';

export interface BatchSettings {
  /** Maximum size of one batch, by the unit that its protocol counts. */
  readonly most: Readonly<Record<BatchCodec['counts'], number>>;
  /** Maximum bytes of one line. */
  readonly maxLineBytes: number;
  /** Action when the budget is exceeded: the batch waits, or ends with its finished lines. */
  readonly onBudget: 'wait' | 'end';
  /** Share of a provider's limits that may be in use when a line begins, from 0 to 1. */
  readonly providerShare: number;
  /** Timeout of one line. */
  readonly totalMs: DurationMs;
  /** Poll interval for batches at vendors. */
  readonly vendorPollMs: DurationMs;
  /** Maximum lines of a vendor's batch. */
  readonly vendorMaxLines: number;
  /** True: lines that fail at their vendor are retried once as ordinary requests. */
  readonly vendorRetry: boolean;
}

export interface BatchDependencies {
  readonly engine: GatewayDependencies;
  readonly storage: Pick<Storage, 'batches' | 'ledger' | 'marks' | 'interruptedTries'>;
  readonly files: Files;
  /** Runs a request. */
  readonly serve: (call: ApiCall, task: Task) => Promise<unknown>;
  /** Throws GatewayError for a key that is no longer valid. */
  readonly keyById: (keyId: string) => Principal;
  /** Memory account of a request while it runs. */
  readonly account: (keyId: string) => ByteAccount & { release(): void };
  readonly pace: BatchPace;
  readonly settings: () => BatchSettings;
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}
