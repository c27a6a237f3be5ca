// One try at one endpoint: sends the body, reads the answer, watches the clocks, and says how it went. Nothing
// reaches the client before the first content, so that a failed try leaves no trace.
import type { Endpoint } from '../../catalog/index.ts';
import { GatewayError, isContent, type CanonicalEvent, type Report } from '../../canonical/index.ts';
import { costOf, type AttemptRecord, type Lane } from '../../ledger/index.ts';
import type { RelayStream, RelayTap } from '../../protocols/index.ts';
import type { TransportFailure } from '../../upstream/client.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import { type Decompressor, decompressing } from '../../upstream/decompress.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import type { AnswerReader } from './answer-reader.ts';
import { type AttemptFacts, attemptRecord } from './attempt-record.ts';
import { attemptRequest } from './attempt-request.ts';
import type { AttemptOptions, AttemptResult } from './attempt-options.ts';
import { isEndpointsFault } from '../failure-table.ts';
import { HeldBytes } from '../held-bytes.ts';
import { Meter } from './meter.ts';
import { redactedError } from './redacted-error.ts';
import { PacedAnswer } from './paced-answer.ts';
import { type AttemptState, overdue } from './patience.ts';
import { type AnswerTaker, openReader } from './open-reader.ts';
import { sendUpstream } from './send-upstream.ts';
import { transportError } from './transport-words.ts';

/** How long an upstream may keep its connection open after the answer is complete, and how much it may still say. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024;
/** How long the body of an error may take after its head: what has come by then says enough. */
const ERROR_BODY_MS = 10_000;

export class Attempt {
  readonly meter = new Meter();
  committed = false;
  readonly #options: AttemptOptions;
  readonly #startedAt: number;
  readonly #held: CanonicalEvent[] = [];
  /** The answer's bytes, and the hand on the connection that they come from. */
  readonly #body: PacedAnswer;
  /** What is kept of the answer. */
  readonly #kept: HeldBytes;
  #signature: SignatureHeaders | undefined;
  #reader: AnswerReader | undefined;
  #inflating: Decompressor | undefined;
  /** Reads an error; undefined where there is none. */
  #refusal: { readonly reader: AnswerReader; readonly since: number } | undefined;
  /** True once the body has ended, whatever its content coding says. */
  #isBodyOver = false;
  /** Bytes that came behind the complete answer. */
  #surplus = 0;
  #relaying: RelayStream | undefined;
  #state: AttemptState = 'connecting';
  #lastActivityAt: number;
  #paused = false;
  #status: number | null = null;
  #endedAt: number | undefined;
  #charge: AttemptFacts['charge'] | undefined;
  #error: GatewayError | undefined;
  #isStale = false;
  #cutAt: string | undefined;
  #unwatch: (() => void) | undefined;
  #resolve: (result: AttemptResult) => void = () => {};

  readonly #take: AnswerTaker = {
    event: (event) => this.#event(event),
    cut: (sequence) => (this.#cutAt = sequence),
    relaying: (stream) => (this.#relaying = stream),
    relayed: (bytes, ended, stream) => this.#relayed(bytes, ended, stream),
    relayedWhole: (body, tap) => this.#relayedWhole(body, tap),
    failed: (error) => this.#fail(error),
    grown: (chars) => this.#grown(chars),
  };

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#kept = new HeldBytes(options.account);
    this.#body = new PacedAnswer(
      {
        data: (bytes) => this.#guard(() => this.#data(bytes)),
        end: () => this.#guard(() => this.#end()),
        failed: (failure, message) => this.#transportFailed(failure, message),
        refused: (error) => this.#fail(error),
      },
      options.account,
    );
    this.#startedAt = options.clock.now();
    this.#lastActivityAt = this.#startedAt;
  }

  get endpoint(): Endpoint {
    return this.#options.endpoint;
  }

  get report(): Report {
    return this.#options.report;
  }

  get lane(): Lane {
    return this.#options.lane;
  }

  /**
   * Runs to the end of the answer or to its failure. Never rejects.
   * @param body for the upstream, as a byte string; not kept
   */
  run(body: string): Promise<AttemptResult> {
    const { endpoint, upstream, ticker } = this.#options;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#unwatch = ticker.add((now) => this.#watch(now));
      this.#guard(() => {
        const call = sendUpstream(
          endpoint,
          attemptRequest(this.#options, body),
          upstream,
          {
            signed: (headers) => (this.#signature = headers),
            connected: () => (this.#state = 'waiting'),
            head: (head) => this.#guard(() => this.#head(head)),
            data: (bytes) => this.#body.data(bytes),
            end: () => this.#body.end(),
            failed: (failure, message) => this.#body.failed(failure, message),
          },
          (error) => this.#fail(error),
        );
        this.#body.attach(call);
      });
    });
  }

  /** Stops the upstream at once. @param reason the result, if there was none before */
  cancel(reason: GatewayError): void {
    this.#fail(reason);
  }

  /** The client reads slower than the upstream writes. */
  pause(): void {
    this.#paused = true;
    (this.#inflating ?? this.#body).pause();
  }

  resume(): void {
    this.#paused = false;
    this.#lastActivityAt = this.#options.clock.now();
    (this.#inflating ?? this.#body).resume();
  }

  /** Counts and cost of what the upstream produced, null where it produced nothing; fixed once the attempt is over. */
  charge(): AttemptFacts['charge'] {
    if (this.#charge) return this.#charge;
    // Who failed before the first content delivered nothing, whatever it had counted by then.
    const nothing = this.#error && this.#error.kind !== 'cancelled' && !this.meter.produced;
    const usage = nothing ? null : this.meter.settledUsage(this.#options.estimateInput);
    const charge = {
      usage,
      cost: usage && costOf(usage, this.#options.isListPriced ? this.endpoint.price : null),
    };
    if (this.#endedAt !== undefined) this.#charge = charge;
    return charge;
  }

  record(): AttemptRecord {
    return attemptRecord(this.#options, {
      startedAt: this.#startedAt,
      endedAt: this.#endedAt ?? this.#options.clock.now(),
      status: this.#status,
      error: this.#error,
      meter: this.meter,
      charge: this.charge(),
    });
  }

  #head(head: ResponseHead): void {
    this.#status = head.status;
    this.#lastActivityAt = this.#options.clock.now();
    if (!this.#options.stream) this.#state = 'answering';
    const limits = this.#options.protocol.upstream.decodeLimits?.(
      (name) => head.header(name),
      this.#lastActivityAt,
    );
    if (limits) this.#options.lease.limits(limits);
    const plain = openReader(head, this.#options, this.#signature, this.#take);
    if (head.status >= 300) this.#refusal = { reader: plain, since: this.#lastActivityAt };
    this.#inflating = decompressing(
      head.header('content-encoding'),
      this.#body,
      {
        data: (bytes) => this.#guard(() => this.#read(plain, bytes)),
        end: () => this.#guard(() => this.#readEnd(plain)),
      },
      (message) => this.#fail(new GatewayError('upstream_unavailable', message)),
    );
    this.#reader = this.#inflating ?? plain;
  }

  #data(bytes: string): void {
    if (this.#state === 'lingering') {
      this.#surplus += bytes.length;
      if (this.#surplus > LINGER_BYTES) this.#leave();
      return;
    }
    this.#lastActivityAt = this.#options.clock.now();
    if (this.#reader) this.#read(this.#reader, bytes);
  }

  #read(reader: AnswerReader, bytes: string): void {
    if (!this.committed) this.#kept.add(bytes.length);
    reader.data(bytes);
    this.#afterRead(false);
  }

  #readEnd(reader: AnswerReader): void {
    reader.end();
    this.#afterRead(true);
  }

  #end(): void {
    this.#isBodyOver = true;
    if (this.#state === 'lingering') return this.#leave();
    if (this.#reader) this.#readEnd(this.#reader);
  }

  #afterRead(ended: boolean): void {
    if (this.#cutAt !== undefined && this.#state !== 'over' && this.#state !== 'lingering') {
      const stopSequence = this.#cutAt;
      this.#event({ type: 'finish', reason: 'stop_sequence', stopSequence });
      if (!ended) this.#body.abort();
    }
    this.#options.output.flush();
    // What is compressed may end before the body does.
    if (ended && this.#isBodyOver && this.#state === 'lingering') this.#leave();
  }

  /** The innermost sink of the translate lane. */
  #event(event: CanonicalEvent): void {
    if (this.#state === 'over' || this.#state === 'lingering') return;
    const { clock, estimateInput, tap, passOn } = this.#options;
    if (event.type === 'error') return this.#fail(event.error);
    if (event.type === 'finish' && !this.meter.usage) {
      const usage = this.meter.settledUsage(estimateInput);
      if (usage) this.#pass({ type: 'usage', usage });
    }
    this.meter.note(event, () => clock.now());
    const empty = event.type === 'finish' && !this.committed ? passOn?.(this.meter) : null;
    if (empty) return this.#fail(empty);
    tap?.on(event);
    this.#pass(event);
    if (event.type === 'finish') this.#answered();
  }

  #pass(event: CanonicalEvent): void {
    const { output } = this.#options;
    if (this.committed) return output.on(event);
    this.#held.push(event);
    if (!isContent(event)) return;
    this.#commit();
    for (const held of this.#held.splice(0)) output.on(held);
  }

  #commit(): void {
    this.committed = true;
    this.#state = 'answering';
    this.#options.lease.firstContent();
    this.#options.claim();
    this.#options.output.commit(this);
    if (!this.#options.output.keeps) this.#kept.release();
  }

  /** Not thrown: whoever reads a copy for the records swallows what goes wrong with it. */
  #grown(chars: number): void {
    if (!this.committed || this.#options.output.keeps) this.#guard(() => this.#kept.add(chars));
  }

  #relayed(bytes: string, ended: boolean, stream: RelayStream): void {
    if (this.#state === 'over' || this.#state === 'lingering') return;
    const { output, clock, passOn } = this.#options;
    if (ended && stream.isEmpty && !stream.error && !this.committed) {
      this.meter.read(stream);
      this.meter.firstContentAt = clock.now();
      const empty = passOn?.(this.meter);
      if (empty) return this.#fail(empty);
    }
    if (stream.committed && !this.committed) {
      this.meter.firstContentAt = clock.now();
      this.#commit();
    }
    // Before the end is announced: an output that holds the answer back passes it on then.
    if (bytes !== '' && this.committed) output.relay(bytes);
    if (ended && !stream.error) {
      this.meter.read(stream);
      this.#answered();
    }
    if (stream.error) this.#fail(stream.error, stream.errorShown);
  }

  #relayedWhole(body: string, tap: RelayTap): void {
    if (this.#state === 'over') return;
    this.meter.firstContentAt = this.#options.clock.now();
    this.meter.read(tap);
    const empty = tap.isEmpty ? this.#options.passOn?.(this.meter) : null;
    if (empty) return this.#fail(empty);
    this.#commit();
    this.#options.output.relayWhole(body);
    this.#answered();
  }

  #answered(): void {
    this.#endedAt = this.#options.clock.now();
    this.#state = 'lingering';
    this.#options.lease.ended({ failure: null, endpointsFault: false, usage: this.charge().usage });
    this.#options.output.finishing();
    this.#resolve({ type: 'answered' });
  }

  #fail(cause: GatewayError, told = false): void {
    if (this.#state === 'over' || this.#state === 'lingering') return;
    this.#state = 'over';
    // What passed before the failure was produced, and is counted.
    if (this.#relaying) this.meter.read(this.#relaying);
    const error = redactedError(cause, this.#options.redact);
    this.#error = error;
    this.#endedAt = this.#options.clock.now();
    this.#options.lease.ended({
      failure: error.kind,
      endpointsFault: !this.#isStale && isEndpointsFault(error),
      retryAfterMs: error.retryAfterMs,
      usage: this.charge().usage,
    });
    this.#stopWatching();
    this.#inflating?.stop();
    this.#body.abort();
    this.#kept.release();
    this.#resolve({ type: 'failed', error, told: told || this.#tell(error), stale: this.#isStale });
  }

  /** Ends a relayed stream with the failure where only the stream knows how. @returns true when the client was told */
  #tell(error: GatewayError): boolean {
    const words = this.committed ? this.#relaying?.fail?.(error) : undefined;
    if (!words) return false;
    this.#options.output.relay(Buffer.from(words).toString('latin1'));
    return true;
  }

  #transportFailed(failure: TransportFailure, message: string): void {
    if (this.#state === 'lingering') return this.#stopWatching();
    this.#isStale = failure === 'stale';
    this.#fail(transportError(this.endpoint.slug, failure, message));
  }

  #watch(now: number): void {
    const { timeouts, deadlineAt, stream, endpoint } = this.#options;
    if (this.#state === 'lingering') {
      if (now - (this.#endedAt ?? now) > LINGER_MS) this.#leave();
      return;
    }
    if (this.#refusal && now - this.#refusal.since > ERROR_BODY_MS) {
      const { reader } = this.#refusal;
      return this.#guard(() => reader.end());
    }
    const late = overdue(
      {
        state: this.#state,
        stream,
        timeouts,
        startedAt: this.#startedAt,
        lastActivityAt: this.#lastActivityAt,
        deadlineAt,
        paused: this.#paused,
      },
      now,
    );
    if (late !== null) this.#fail(new GatewayError('timeout', `${endpoint.slug}: ${late}`));
  }

  /** The answer is complete; where its upstream does not end, the connection is not worth keeping. */
  #leave(): void {
    this.#state = 'over';
    this.#stopWatching();
    this.#inflating?.stop();
    this.#body.abort();
  }

  #stopWatching(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Codecs throw GatewayError for answers that are none, and a defect of ours must not take the process down. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fail(
        error instanceof RangeError
          ? new GatewayError('upstream_unavailable', error.message)
          : GatewayError.from(error),
      );
    }
  }
}
