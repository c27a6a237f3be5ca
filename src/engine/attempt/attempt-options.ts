// What an attempt is given, where its answer goes, and how it can end.
import type { Endpoint } from '../../catalog/index.ts';
import type { CanonicalEvent, EventSink, GatewayError, Report } from '../../canonical/index.ts';
import type { Lane } from '../../ledger/index.ts';
import type { CodecContext, Protocol, RelayFacts } from '../../protocols/index.ts';
import type { Clock, Ticker } from '../../runtime/clock.ts';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { AttemptLease } from '../../routing/index.ts';
import type { Attempt } from './attempt.ts';
import type { ByteAccount } from '../call.ts';
import type { Meter } from './meter.ts';
import type { Timeouts } from '../settings.ts';

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

export interface AttemptOptions {
  readonly id: string;
  readonly generationId: string;
  /** True: over a fresh connection, because one that was used before turned out to be closed. */
  readonly fresh: boolean;
  /** Key of the gateway whose request it is. */
  readonly keyId: string;
  readonly ordinal: number;
  readonly endpoint: Endpoint;
  /** False: what it costs is unknown, for another price was asked for than the one that is known. */
  readonly isListPriced: boolean;
  readonly protocol: Protocol;
  /** Path below the endpoint's base URL; absent: where the protocol has its answers made. */
  readonly path?: string | undefined;
  readonly lane: Lane;
  /** What this attempt's body dropped, approximated or defaulted. */
  readonly report: Report;
  readonly stream: boolean;
  readonly output: AttemptOutput;
  /** The client's request headers, and the names of those that go on; undefined when none do. */
  readonly clientHeaders: Iterable<readonly [name: string, value: string]>;
  readonly passedHeaders: ReadonlySet<string> | undefined;
  /** Wraps the innermost sink with those the request needs (stop, custom tools, stamps). `cut` ends the answer early. */
  readonly wrap: (innermost: EventSink, cut: (stopSequence: string) => void) => EventSink;
  readonly relayFacts: RelayFacts;
  /** A sink that sees every canonical event, also in the relay lane; for records. */
  readonly tap: EventSink | null;
  readonly timeouts: Timeouts;
  /** Unix milliseconds by which the whole request must be over. */
  readonly deadlineAt: number;
  /** Tokens of what this attempt's model reads, roughly; asked only where the upstream does not count. */
  readonly estimateInput: () => number;
  /**
   * Asked about a complete answer without content: the failure it is, where another endpoint may answer in its place;
   * null: the client gets it as it is. Absent: always so.
   */
  readonly passOn?: (meter: Meter) => GatewayError | null;
  readonly context: CodecContext;
  /** Takes what this attempt teaches about its endpoint. */
  readonly lease: AttemptLease;
  /** Called right before the output is committed: others that race for the same answer have lost. */
  readonly claim: () => void;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly upstream: UpstreamClient;
  /** What the attempt keeps counts here. */
  readonly account: ByteAccount;
  /** Masks secrets in text that came from an upstream: some echo the key they refuse. */
  readonly redact: (text: string) => string;
}

export type AttemptResult =
  | { readonly type: 'answered' }
  /**
   * `told`: the client has already read of the failure, in the upstream's own words. `stale`: a connection that was used
   * before turned out to be closed, which says nothing about the endpoint.
   */
  | {
      readonly type: 'failed';
      readonly error: GatewayError;
      readonly told: boolean;
      readonly stale: boolean;
    };
