// What an attempt is given, and where its answer goes.
import type { CanonicalEvent, GatewayError } from '../../canonical/index.ts';
import type { Arrival } from '../arrival.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Timeouts } from '../settings.ts';
import type { Spending } from '../spending.ts';
import type { Attempt } from './attempt.ts';
import type { Meter } from './meter.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { ProviderHold } from './provider-hold.ts';

/** Where an attempt's answer goes. */
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
  relayWhole(bytes: string): void;
  /** The answer is complete. Its last bytes must wait until the records are safe. */
  finishing(): void;
  /** One upstream read was worked off: write what has gathered. */
  flush(): void;
}

/** The request that an attempt is made for: whose it is, and how long it may take. */
export interface Requester {
  readonly arrival: Pick<Arrival, 'id' | 'call' | 'createdAt' | 'allowance' | 'trace'>;
  readonly timeouts: Timeouts;
  /** Unix milliseconds by which all attempts together must be over. */
  readonly deadlineAt: number;
}

/** What all attempts of the process share. */
export type AttemptServices = Pick<
  GatewayDependencies,
  'clock' | 'ticker' | 'upstream' | 'routing' | 'limits' | 'running' | 'redact'
>;

/** What differs between two attempts at the same. */
export interface AttemptNumber {
  /** Attempts of the same request before this one. */
  readonly ordinal: number;
  /** True: over a fresh connection, because one that was used before turned out to be closed. */
  readonly fresh: boolean;
  /** Follows what it costs; null where no budget counts it. */
  readonly spending: Spending | null;
  /** What it has of its provider's limits; null where there are none. */
  readonly hold: ProviderHold | null;
}

export interface AttemptInput {
  readonly requester: Requester;
  /** What is sent, and how its answer is read. */
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
