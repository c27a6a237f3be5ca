// Input of an attempt, and the sink of its answer.
import type { CanonicalEvent, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Timeouts } from '../settings.ts';
import type { RunningCost } from '../running-cost.ts';
import type { Attempt } from './attempt.ts';
import type { Meter } from './meter.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { ProviderHold } from './run-attempt.ts';
import type { UnixMs } from '../../base/units.ts';

/** Sink of an attempt's answer. */
export interface AttemptOutput {
  /** True when the output keeps the answer until the request ends. Undefined behaviour before `commit`. */
  readonly keeps: boolean;
  /** Called at the first content. From then on the answer is this attempt's. */
  commit(by: Attempt): void;
  /** Translate lane. Called only after `commit`. */
  on(event: CanonicalEvent): void;
  /** Relay lane, streamed: bytes for the client. Called only after `commit`. */
  relay(bytes: string): void;
  /** Relay lane, whole: the patched body. */
  relayWhole(body: Buffer): void;
  /** The answer is complete. Its last bytes must wait until the records are stored. */
  finishing(): void;
  /** One upstream read was processed: write the collected output. */
  flush(): void;
}

/** The request that an attempt belongs to, with its time limits. */
export interface Requester {
  readonly arrival: Pick<Arrival, 'id' | 'recordId' | 'call' | 'createdAt' | 'arrivedAt' | 'quota' | 'trace'>;
  readonly timeouts: Timeouts;
  /** Time limits of endpoints with their own settings. Absent: no candidate has any. */
  readonly timeoutsAt?: ((endpoint: Endpoint) => Timeouts) | undefined;
  /** Unix milliseconds. Deadline for all attempts together. */
  readonly deadlineAt: UnixMs;
}

/** Services that all attempts of the process share. */
export type AttemptServices = Pick<
  GatewayDependencies,
  'clock' | 'ticker' | 'upstream' | 'routing' | 'limits' | 'running' | 'redact'
>;

/** Facts that differ between attempts of the same request. */
export interface AttemptNumber {
  /** Number of earlier attempts of the same request. */
  readonly ordinal: number;
  /** True: uses a new connection, because a reused one turned out to be closed. */
  readonly fresh: boolean;
  /** Tracks the running cost. Null: no budget applies. */
  readonly runningCost: RunningCost | null;
  /** Reservation in the provider's limits. Null: there are none. */
  readonly hold: ProviderHold | null;
}

export interface AttemptInput {
  readonly requester: Requester;
  /** The request to send, and how its answer is read. */
  readonly prepared: PreparedAttempt;
  readonly output: AttemptOutput;
  /** True: events of a relayed answer are also collected for storage. */
  readonly collects: boolean;
  /** Called immediately before the output is committed, so that competing attempts are cancelled. */
  readonly claim?: (() => void) | undefined;
  /**
   * Called for a complete answer without content. Returns the failure if another endpoint may answer instead. Null or
   * absent: the client gets the answer unchanged.
   */
  readonly passOn?: ((meter: Meter) => GatewayError | null) | undefined;
}
