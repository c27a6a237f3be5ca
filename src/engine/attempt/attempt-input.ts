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
  /** True when what it gets stays until the request has ended. Of no meaning before `commit`. */
  readonly keeps: boolean;
  /** The first content is here: from now on the answer is this attempt's. */
  commit(by: Attempt): void;
  /** Translate lane. Only called after `commit`. */
  on(event: CanonicalEvent): void;
  /** Relay lane, streamed: bytes for the client. Only called after `commit`. */
  relay(bytes: string): void;
  /** Relay lane, whole: the patched body. */
  relayWhole(body: Buffer): void;
  /** The answer is complete. Its last bytes must wait until the records are safe. */
  finishing(): void;
  /** One upstream read was worked off: write what has gathered. */
  flush(): void;
}

/** The request that an attempt is made for: whose it is, and how long it may take. */
export interface Requester {
  readonly arrival: Pick<Arrival, 'id' | 'recordId' | 'call' | 'createdAt' | 'arrivedAt' | 'quota' | 'trace'>;
  readonly timeouts: Timeouts;
  /** The limits of an endpoint that has some of its own. Absent: none of those that may be asked has any. */
  readonly timeoutsAt?: ((endpoint: Endpoint) => Timeouts) | undefined;
  /** Unix milliseconds by which all attempts together must be over. */
  readonly deadlineAt: UnixMs;
}

/** Services that all attempts of the process share. */
export type AttemptServices = Pick<
  GatewayDependencies,
  'clock' | 'ticker' | 'upstream' | 'routing' | 'limits' | 'running' | 'redact'
>;

/** Facts that differ between two attempts of the same request. */
export interface AttemptNumber {
  /** Attempts of the same request before this one. */
  readonly ordinal: number;
  /** True: over a fresh connection, because one that was used before turned out to be closed. */
  readonly fresh: boolean;
  /** Follows what it costs; null where no budget counts it. */
  readonly runningCost: RunningCost | null;
  /** Reservation in its provider's limits. Null: there are none. */
  readonly hold: ProviderHold | null;
}

export interface AttemptInput {
  readonly requester: Requester;
  /** The request to send, and how its answer is read. */
  readonly prepared: PreparedAttempt;
  readonly output: AttemptOutput;
  /** True: the events of an answer that is relayed are collected as well, for what is kept of it. */
  readonly collects: boolean;
  /** Called right before the output is committed: others that race for the same answer have lost. */
  readonly claim?: (() => void) | undefined;
  /**
   * Asked about a complete answer without content: the failure it is, where another endpoint may answer in its place;
   * null: the client gets it as it is. Absent: always so.
   */
  readonly passOn?: ((meter: Meter) => GatewayError | null) | undefined;
}
