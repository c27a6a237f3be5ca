// Dependencies of those that run batches.
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
  /** Limit of one batch, by what its protocol counts. */
  readonly most: Readonly<Record<BatchCodec['counts'], number>>;
  /** Limit of one line. */
  readonly maxLineBytes: number;
  /** Fate of a batch whose budget is spent: it waits, or ends with the lines that are finished. */
  readonly onBudget: 'wait' | 'end';
  /** How much of a provider's limits may be used when a line begins, from 0 to 1. */
  readonly providerShare: number;
  /** Time that one line may take. */
  readonly totalMs: DurationMs;
  /** Time between two looks at batches of vendors. */
  readonly vendorPollMs: DurationMs;
  /** Most lines of a vendor's batch. */
  readonly vendorMaxLines: number;
  /** True: lines that fail at their vendor are asked once more, as other requests. */
  readonly vendorRetry: boolean;
}

export interface BatchDependencies {
  readonly engine: GatewayDependencies;
  readonly storage: Pick<Storage, 'batches' | 'ledger' | 'marks'>;
  readonly files: Files;
  /** Runs a request. */
  readonly serve: (call: ApiCall, task: Task) => Promise<unknown>;
  /** Throws GatewayError for a key that is not good any more. */
  readonly keyById: (keyId: string) => Principal;
  /** Memory that a request holds while it runs. */
  readonly account: (keyId: string) => ByteAccount & { release(): void };
  readonly pace: BatchPace;
  readonly settings: () => BatchSettings;
  /** False once the process is to end. */
  readonly takes: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}
