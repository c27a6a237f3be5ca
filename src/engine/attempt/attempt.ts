// One attempt at one endpoint: sends the request, reads the answer, enforces timeouts and reports the outcome. Nothing
// reaches the client before the first content, so a failed attempt is invisible.
import type { Endpoint } from '../../catalog/index.ts';
import {
  type CanonicalEvent,
  Collector,
  GatewayError,
  isContent,
  type Report,
} from '../../canonical/index.ts';
import type { AttemptRecord, Lane } from '../../accounts/ledger/index.ts';
import type { RelayStream, RelayTap } from '../../protocols/index.ts';
import type { Ticking } from '../../base/runtime/clock.ts';
import type { AnswerReceiver, ReceiveFailure } from '../../upstream/ask.ts';
import type { Sender, UpstreamCall } from '../../upstream/client.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { AttemptLease } from '../routing/index.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type AnswerReader, openReader, quietly, type ReadAnswer } from './answer-reader.ts';
import { askEndpoint, attemptRequest } from './ask-endpoint.ts';
import { attemptRecord, type Charge, chargeOf, Meter } from './meter.ts';
import type { AttemptInput, AttemptNumber, AttemptServices } from './attempt-input.ts';
import { isEndpointsFault, isOwnRefusal } from '../failure-table.ts';
import { HeldBytes } from '../call.ts';
import { brokenAnswer, receiveError, redactedError } from './error-words.ts';
import { PacedAnswer } from './paced-answer.ts';
import { Progress } from './progress.ts';
import { toByteString } from '../../base/lib/bytes.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds that the body of an error may take after its head. What has arrived by then is used. */
const ERROR_BODY_MS = 10_000;

export class Attempt implements AnswerReceiver, ReadAnswer, Ticking {
  readonly meter = new Meter();
  /** Collects a relayed answer on request. Null: the output has the answer, or it is not needed. */
  readonly tap: Collector | null;
  committed = false;
  failure: GatewayError | undefined;
  /** True when the client has already received the failure in the upstream's own words. */
  isReported = false;
  /** True when a reused connection turned out to be closed, which says nothing about the endpoint. */
  isStale = false;
  readonly #input: AttemptInput;
  readonly #number: AttemptNumber;
  readonly #services: AttemptServices;
  /** Records the attempt's outcome for its endpoint. Undefined before it runs. */
  #lease: AttemptLease | undefined;
  readonly #held: CanonicalEvent[] = [];
  /** Controls the connection. Undefined before the request is handed over. */
  #call: UpstreamCall | undefined;
  /** Memory account of the kept part of the answer. */
  readonly #kept: HeldBytes;
  #signature: SignatureHeaders | undefined;
  #reader: AnswerReader | undefined;
  /** Reader of an error response. Undefined: there is none. */
  #refusal: { readonly reader: AnswerReader; readonly since: UnixMs } | undefined;
  #relaying: RelayStream | undefined;
  readonly #progress = new Progress();
  #status: number | null = null;
  #charge: Charge | undefined;
  #cutAt: string | undefined;
  #tickerPlace = 0;
  #resolve: () => void = () => {};

  constructor(input: AttemptInput, number: AttemptNumber, services: AttemptServices) {
    this.#input = input;
    this.#number = number;
    this.#services = services;
    this.tap = input.collects && input.prepared.lane === 'relay' ? new Collector() : null;
    this.#kept = new HeldBytes(input.requester.arrival.call.account);
  }

  get endpoint(): Endpoint {
    return this.#input.prepared.endpoint;
  }

  get report(): Report {
    return this.#input.prepared.report;
  }

  get lane(): Lane {
    return this.#input.prepared.lane;
  }

  /** True when the upstream may have received part of the request. */
  get wasSent(): boolean {
    return this.#progress.wasSent;
  }

  /** Runs until the answer ends or `failure` is set. Called once; never rejects. */
  run(): Promise<void> {
    const { clock, ticker, upstream, routing } = this.#services;
    const { endpoint, request } = this.#input.prepared;
    this.#progress.begin(clock.now());
    const answered = this.#input.requester.arrival.call.job?.answered;
    if (!answered) this.#lease = routing.begin(endpoint, request.stream);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#tickerPlace = ticker.add(this);
      this.#guard(() => this.#send(answered?.upstream ?? upstream));
      // The attempt failed synchronously.
      if (this.#progress.state === 'over') this.#call?.abort();
    });
  }

  #send(upstream: Pick<Sender, 'send' | 'now' | 'wall'>): void {
    const request = attemptRequest(this.#input, this.#number);
    this.#call = askEndpoint(this.endpoint, request, upstream, this, Infinity, (listener, send) => {
      const paced = new PacedAnswer(listener, this.#input.requester.arrival.call.account, this);
      paced.attach(send(paced));
      return paced;
    });
  }

  /** Aborts the upstream request. @param reason the result, unless there already is one */
  cancel(reason: GatewayError): void {
    this.#fail(reason);
  }

  /** Pauses the upstream while the client reads slowly. */
  pause(): void {
    this.#progress.paused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#progress.paused = false;
    this.#progress.lastActivityAt = this.#services.clock.now();
    this.#call?.resume();
  }

  /** Usage and cost of what the upstream produced; final after the attempt. Null members: it produced nothing. */
  charge(): Charge {
    if (this.#charge) return this.#charge;
    const charge = chargeOf(this.#input.prepared, this.meter, this.failure);
    if (this.#progress.endedAt !== undefined) this.#charge = charge;
    return charge;
  }

  record(): AttemptRecord {
    return attemptRecord(this.#input, this.#number, {
      endedAt: this.#progress.endedAt ?? this.#services.clock.now(),
      ...this.#progress.times,
      status: this.#status,
      error: this.failure,
      meter: this.meter,
      charge: this.charge(),
    });
  }

  // Events of the connection.

  signed(headers: SignatureHeaders): void {
    this.#signature = headers;
  }

  refused(error: GatewayError): void {
    this.#fail(error);
  }

  connected(): void {
    const { call, quota } = this.#input.requester.arrival;
    this.#progress.sent(this.#services.clock.now());
    // Last: nothing stands between these and the write.
    quota?.sent();
    call.job?.sent();
  }

  head(head: ResponseHead): void {
    this.#status = head.status;
    this.#progress.answered(this.#services.clock.now());
    const { prepared } = this.#input;
    if (!prepared.request.stream) this.#progress.state = 'answering';
    try {
      const header = (name: string): string | null => head.header(name);
      const limits = prepared.protocol.upstream.decodeLimits?.(header, this.#progress.lastActivityAt);
      if (limits) this.#lease?.limits(limits);
      this.#number.hold?.learn(prepared.protocol, header);
      const reading = { services: this.#services, tap: this.tap, signature: this.#signature };
      this.#reader = openReader(head, this.#input, reading, this);
    } catch (error) {
      return this.#fail(brokenAnswer(error));
    }
    if (head.status >= 300) this.#refusal = { reader: this.#reader, since: this.#progress.lastActivityAt };
    // The body is not sent again, and the answer may take minutes.
    else prepared.body = [];
  }

  data(bytes: Buffer): void {
    if (this.#progress.state === 'lingering') {
      if (this.#progress.hasSurplus(bytes.length)) this.#leave();
      return;
    }
    this.#progress.received();
    try {
      if (!this.committed) this.#kept.add(bytes.length);
      this.#reader?.data(bytes);
      this.#afterRead(false);
    } catch (error) {
      this.#fail(brokenAnswer(error));
    }
  }

  end(): void {
    if (this.#progress.state === 'lingering') return this.#leave();
    try {
      this.#reader?.end();
      this.#afterRead(true);
    } catch (error) {
      this.#fail(brokenAnswer(error));
    }
  }

  failed(failure: ReceiveFailure, message: string): void {
    if (this.#progress.state === 'lingering') return this.#stopWatching();
    this.isStale = failure === 'stale';
    this.#fail(receiveError(this.endpoint.slug, failure, message));
  }

  #afterRead(ended: boolean): void {
    if (this.#cutAt !== undefined && !this.#progress.hasEnded) {
      const stopSequence = this.#cutAt;
      this.on({ type: 'finish', reason: 'stop_sequence', stopSequence });
      if (!ended) this.#call?.abort();
    }
    // Charged before it is sent, so that no delivered content is unpaid if the process dies.
    const refusal = this.#spend();
    this.#input.output.flush();
    if (refusal) this.#fail(refusal);
    if (ended && this.#progress.state === 'lingering') this.#leave();
  }

  /** Charges what was read. @returns the error that ends the answer when the budget is exhausted */
  #spend(): GatewayError | null {
    if (!this.#number.runningCost) return null;
    const { usage, outputChars } = this.#relaying ?? this.meter.soFar;
    return this.#number.runningCost.note(outputChars, usage ?? null);
  }

  // Events of the reader.

  cut(stopSequence: string): void {
    this.#cutAt = stopSequence;
  }

  relaying(stream: RelayStream): void {
    this.#relaying = stream;
  }

  on(event: CanonicalEvent): void {
    if (this.#progress.hasEnded) return;
    const { prepared, passOn } = this.#input;
    if (event.type === 'error') return this.#fail(event.error);
    if (event.type === 'finish' && !this.meter.usage) {
      const usage = this.meter.settledUsage(prepared);
      if (usage) this.#pass({ type: 'usage', usage });
    }
    this.meter.note(event, this.#services.clock);
    const empty = event.type === 'finish' && !this.committed ? passOn?.(this.meter) : null;
    if (empty) return this.#fail(empty);
    this.tap?.on(event);
    this.#pass(event);
    if (event.type === 'finish') this.#answered();
  }

  #pass(event: CanonicalEvent): void {
    if (this.committed) return this.#input.output.on(event);
    this.#held.push(event);
    if (!isContent(event)) return;
    this.#commit();
    for (const held of this.#held) this.#input.output.on(held);
    this.#held.length = 0;
  }

  #commit(): void {
    this.committed = true;
    this.#progress.state = 'answering';
    this.#lease?.firstContent();
    const { claim, output } = this.#input;
    claim?.();
    output.commit(this);
    if (!output.keeps) this.#kept.release();
  }

  /** Guarded, because a reader of a copy for the records swallows exceptions. */
  grown(chars: number): void {
    if (!this.committed || this.#input.output.keeps) this.#guard(() => this.#kept.add(chars));
  }

  relayed(bytes: string, ended: boolean, stream: RelayStream): void {
    if (this.#progress.hasEnded) return;
    const { output, passOn } = this.#input;
    const { clock } = this.#services;
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
    // Before the end is announced, because a buffering output passes the answer on then.
    if (bytes !== '' && this.committed) output.relay(bytes);
    if (ended && !stream.error) {
      this.meter.read(stream);
      this.#answered();
    }
    if (stream.error) this.#fail(stream.error, stream.errorShown);
  }

  relayedWhole(body: Buffer, tap: RelayTap): void {
    if (this.#progress.state === 'over') return;
    this.meter.firstContentAt = this.#services.clock.now();
    this.meter.read(tap);
    const empty = tap.isEmpty ? this.#input.passOn?.(this.meter) : null;
    if (empty) return this.#fail(empty);
    this.#commit();
    this.#input.output.relayWhole(body);
    this.#answered();
  }

  #answered(): void {
    this.#progress.endedAt = this.#services.clock.now();
    this.#progress.state = 'lingering';
    this.meter.isComplete = true;
    this.#lease?.ended({ failure: null, endpointsFault: false, usage: this.charge().usage });
    this.#input.output.finishing();
    this.#resolve();
  }

  #fail(cause: GatewayError, isReported = false): void {
    if (this.#progress.hasEnded) return;
    // Tokens that were counted or passed before the failure count as usage.
    quietly(() => this.#reader?.interrupt?.());
    this.#progress.state = 'over';
    if (this.#relaying) this.meter.read(this.#relaying);
    const error = redactedError(cause, this.#services.redact);
    this.failure = error;
    this.#progress.endedAt = this.#services.clock.now();
    this.#lease?.ended({
      // A failure caused by the gateway says nothing about the endpoint.
      failure: isOwnRefusal(error) ? 'cancelled' : error.kind,
      endpointsFault: !this.isStale && isEndpointsFault(error),
      retryAfterMs: error.retryAfterMs,
      usage: this.charge().usage,
    });
    this.#stopWatching();
    this.#call?.abort();
    this.#kept.release();
    this.isReported = isReported || this.#failInStream(error);
    this.#resolve();
  }

  /** Ends a relayed stream with the failure, if its protocol can express it. @returns true when the client was told */
  #failInStream(error: GatewayError): boolean {
    const words = this.committed ? this.#relaying?.fail?.(error) : undefined;
    if (!words) return false;
    this.#input.output.relay(toByteString(words));
    return true;
  }

  tick(now: UnixMs): void {
    if (this.#progress.state === 'lingering') {
      if (this.#progress.lingersTooLong(now)) this.#leave();
      return;
    }
    if (this.#refusal && now - this.#refusal.since > ERROR_BODY_MS) {
      const { reader } = this.#refusal;
      return this.#guard(() => reader.end());
    }
    const { prepared, requester } = this.#input;
    const late = this.#progress.overdue(requester, prepared, now);
    if (late !== null) this.#fail(new GatewayError('timeout', `${prepared.endpoint.slug}: ${late}`));
  }

  /** Closes the connection after a complete answer whose upstream does not end it. */
  #leave(): void {
    this.#progress.state = 'over';
    this.#stopWatching();
    this.#call?.abort();
  }

  #stopWatching(): void {
    this.#services.ticker.remove(this, this.#tickerPlace);
  }

  /** Turns exceptions into failures, so that a defect does not end the process. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fail(brokenAnswer(error));
    }
  }
}
