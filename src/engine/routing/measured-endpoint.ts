// Measurements of one endpoint: speed, failures, load, and until when it is avoided. Everything is computed on demand,
// without timers.
import type { ErrorKind, LimitNotice, Usage } from '../../canonical/index.ts';
import { inputTokens, outputTokens } from '../../canonical/index.ts';
import { Breaker, type BreakerTicket, CLOSED } from './breaker.ts';
import { DecayingAverage, DecayingCount, FadingHistogram } from './fading-measures.ts';
import { attemptEnd, RecentAttempts } from './recent-attempts.ts';
import type { EndpointUpdate, Measure, EndpointPauses, Tally } from './endpoint-updates.ts';
import type { BreakerSettings } from './settings.ts';
import type { AttemptLease, AttemptOutcome, EndpointHealth, EndpointId, Availability } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Decayed attempts below this are ignored; one attempt is forgotten after 17 minutes. */
const FADED = 0.1;
/** Successful attempts assumed for every endpoint. */
const PRESUMED_GOOD = 2;
/** Shorter answers measure how the network groups bytes. */
const LEAST_TOKENS = 10;
const LEAST_MS = 50;
/** OpenAI does not cache shorter prompts, and Anthropic few (guides to prompt caching, 2026-11). */
const LEAST_CACHED_TOKENS = 1024;
/** Lifetime of a learned context length, because a server may be restarted with a larger one. */
const LEARNED_MS = 60 * 60_000;
/** Maximum duration of a rate limit. */
const LONGEST_LIMIT_MS = 10 * 60_000;

type Pause = Availability & { readonly until: UnixMs };
const NO_PAUSE: Pause = { state: 'open', until: 0, reason: null };

/**
 * State of one endpoint.
 *
 * - Latency: `firstTokenMs` from the first content of streams, `answerMs` from complete whole answers.
 * - Speed: output tokens per time from the first content to the end of a stream; per total time for whole answers and
 * streams with reasoning. Requires 10 tokens. Below 50 ms, a lower bound is used: tokens per total time, at least 50
 * ms, if that exceeds the measured speed.
 * - Length: output tokens of complete answers; nine of ten do not exceed `usualOutputTokens`.
 * - Cache: cached share of input tokens, for complete attempts with at least 1,024 tokens reported by the upstream.
 * - Context: learned from a refusal as too long, for an hour or until a longer request succeeds.
 * - Success: attempts and failures with a half-life of 5 minutes. Only the endpoint's own failures lower the rate;
 * cancelled attempts are not counted.
 * - Rate limit: a `rate_limited` failure, or an announced limit without remainder, pauses the endpoint as long as the
 * upstream asks, at most 10 minutes. A failure without a time counts for the breaker.
 * - Manual: an operator can disable it for a time, which takes precedence over all else, and enable it again.
 */
export class MeasuredEndpoint implements EndpointHealth {
  readonly #breaker: Breaker;
  readonly #firstToken = new DecayingAverage();
  readonly #answer = new DecayingAverage();
  readonly #speed = new DecayingAverage();
  readonly #cacheHits = new DecayingAverage();
  /** Created on demand, because most endpoints need only one of the two, and many none. */
  #streamTimes: FadingHistogram | null = null;
  #answerTimes: FadingHistogram | null = null;
  #outputTokens: FadingHistogram | null = null;
  readonly #attempts = new DecayingCount();
  readonly #faults = new DecayingCount();
  readonly #failures = new Map<ErrorKind, DecayingCount>();
  /** Only for display to operators. */
  readonly recent = new RecentAttempts();
  #limited = NO_PAUSE;
  #manualPause = NO_PAUSE;
  #inFlight = 0;
  #measuredAt: UnixMs | null = null;
  #skippedPlans = 0;
  #learned: { readonly context: number; readonly until: UnixMs } | null = null;
  /** Changes to publish to other processes. Null: they are not published. */
  readonly #tally: Tally | null;

  constructor(breaker: () => BreakerSettings, tally: Tally | null = null) {
    this.#breaker = new Breaker(breaker);
    this.#tally = tally;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get firstTokenMs(): DurationMs | null {
    return this.#firstToken.value;
  }

  get answerMs(): DurationMs | null {
    return this.#answer.value;
  }

  get tokensPerSecond(): number | null {
    return this.#speed.value;
  }

  get cacheHitRate(): number | null {
    return this.#cacheHits.value;
  }

  get measuredAt(): UnixMs | null {
    return this.#measuredAt;
  }

  get skippedPlans(): number {
    return this.#skippedPlans;
  }

  learnedContext(nowMs: UnixMs): number | null {
    return this.#learned !== null && nowMs < this.#learned.until ? this.#learned.context : null;
  }

  successRate(nowMs: UnixMs): number | null {
    const attempts = this.#attempts.at(nowMs);
    return attempts < FADED ? null : 1 - this.#faults.at(nowMs) / attempts;
  }

  stability(nowMs: UnixMs): number {
    return 1 - this.#faults.at(nowMs) / (this.#attempts.at(nowMs) + PRESUMED_GOOD);
  }

  failures(nowMs: UnixMs): Readonly<Partial<Record<ErrorKind, number>>> {
    const failures: Partial<Record<ErrorKind, number>> = {};
    for (const [kind, count] of this.#failures) {
      const recent = count.at(nowMs);
      if (recent >= FADED) failures[kind] = recent;
    }
    return failures;
  }

  p95Ms(stream: boolean): DurationMs | null {
    return (stream ? this.#streamTimes : this.#answerTimes)?.percentile(0.95) ?? null;
  }

  get usualOutputTokens(): number | null {
    return this.#outputTokens?.percentile(0.9) ?? null;
  }

  availability(nowMs: UnixMs): Availability {
    if (nowMs < this.#manualPause.until) return this.#manualPause;
    const availability = this.#breaker.availability(nowMs);
    const { until } = this.#limited;
    return nowMs < until && until > (availability.until ?? 0) ? this.#limited : availability;
  }

  disabled(nowMs: UnixMs): Availability | null {
    return nowMs < this.#manualPause.until ? this.#manualPause : null;
  }

  breaker(nowMs: UnixMs): Availability {
    return this.#breaker.availability(nowMs);
  }

  isBroken(nowMs: UnixMs): boolean {
    return this.#breaker.availability(nowMs).state !== 'closed';
  }

  admits(nowMs: UnixMs): boolean {
    return nowMs >= Math.max(this.#limited.until, this.#manualPause.until) && this.#breaker.admits(nowMs);
  }

  /** Disables the endpoint on behalf of an operator. */
  disable(until: UnixMs, reason: string): void {
    this.#manualPause = { state: 'open', until, reason };
    this.#tally?.changed();
  }

  /** Enables the endpoint on behalf of an operator, which clears all states. */
  enable(): void {
    this.#resetAvailability();
    this.#tally?.enabledAgain();
  }

  skipped(): void {
    this.#skippedPlans += 1;
  }

  learnContext(context: number, nowMs: UnixMs): void {
    this.#learned = { context, until: nowMs + LEARNED_MS };
  }

  /** True when the state has not been published yet. */
  hasChanged(nowMs: UnixMs): boolean {
    return this.#tally?.isPublished(this.#pauses(nowMs)) === false;
  }

  /** The update to publish. Null: updates are not published. */
  update(endpoint: EndpointId, nowMs: UnixMs): EndpointUpdate | null {
    return this.#tally && this.#tally.take(endpoint, this.#pauses(nowMs), nowMs);
  }

  /**
   * Applies another process's update. Measures and outcomes count like local ones, and so do limits and manual states.
   */
  learn(update: EndpointUpdate, nowMs: UnixMs): void {
    const { measures, attempts, faults, failures, isEnabledAgain, limited, broken, disabled } = update;
    const wasPublished = !this.hasChanged(nowMs);
    if (isEnabledAgain) this.#resetAvailability();
    for (const [measure, values] of Object.entries(measures) as [Measure, readonly number[]][])
      for (const value of values) this.#add(measure, value, nowMs);
    this.#attempts.add(nowMs, attempts);
    this.#faults.add(nowMs, faults);
    for (const [kind, times] of Object.entries(failures) as [ErrorKind, number][])
      this.#countFailure(kind, times, nowMs);
    if (limited) this.#pause(limited.forMs, nowMs);
    if (broken) this.#breaker.openedRemotely(broken.forMs, broken.reason, nowMs);
    else if (broken === null) this.#breaker.closedRemotely();
    if (disabled)
      this.#manualPause = { state: 'open', until: nowMs + disabled.forMs, reason: disabled.reason };
    this.#recall(update, nowMs);
    if (wasPublished) this.#tally?.markPublished(this.#pauses(nowMs));
  }

  /**
   * Adds another process's attempts to the recent ones. Their order is unknown: successes go last unless the endpoint
   * is broken.
   */
  #recall({ attempts, faults, failures }: EndpointUpdate, nowMs: UnixMs): void {
    const isBroken = this.isBroken(nowMs);
    const limited = failures.rate_limited ?? 0;
    const refused = Math.min(faults, (failures.authentication ?? 0) + (failures.permission ?? 0));
    const bad = Math.max(0, faults - limited - refused);
    const good = Math.max(0, attempts - limited - refused - bad);
    for (const [end, times] of [
      ['limited', limited],
      ['refused', refused],
      ['bad', bad],
      ['good', good],
    ] as const)
      if (times > 0) this.recent.add(end, nowMs, isBroken, times);
  }

  #resetAvailability(): void {
    this.#manualPause = NO_PAUSE;
    this.#limited = NO_PAUSE;
    this.#breaker.reset();
  }

  #pauses(nowMs: UnixMs): EndpointPauses {
    const ifCurrent = (disabled: Pause): Availability => (nowMs < disabled.until ? disabled : CLOSED);
    return {
      limited: ifCurrent(this.#limited),
      broken: this.#breaker.availability(nowMs),
      disabled: ifCurrent(this.#manualPause),
    };
  }

  /** Begins an attempt. @param now Unix milliseconds, read at each event of the lease */
  begin(stream: boolean, now: () => UnixMs): AttemptLease {
    this.#inFlight += 1;
    this.#skippedPlans = 0;
    const began = now();
    return new Lease(this, stream, began, this.#breaker.enter(began), now);
  }

  /** Applies limits announced in the head of a running attempt. */
  noteLimits(notice: LimitNotice, nowMs: UnixMs): void {
    if (notice.remaining === 0) this.#pause(notice.resetMs, nowMs);
  }

  showedContent({ ticket, stream, began }: Lease, nowMs: UnixMs): void {
    this.#breaker.showedContent(ticket);
    this.#tally?.changed();
    if (stream) this.#measureLatency(true, nowMs - began, nowMs);
  }

  ended({ ticket, stream, began, firstContentAt }: Lease, outcome: AttemptOutcome, nowMs: UnixMs): void {
    this.#inFlight -= 1;
    this.#conclude(outcome, ticket, nowMs);
    if (outcome.failure !== null) return;
    if (!stream) this.#measureLatency(false, nowMs - began, nowMs);
    if (outcome.usage) this.#measureUsage(outcome.usage, began, firstContentAt, nowMs);
  }

  /** Counts the outcome of an attempt. */
  #conclude(
    { failure, endpointsFault, retryAfterMs }: AttemptOutcome,
    ticket: BreakerTicket,
    nowMs: UnixMs,
  ): void {
    const isPaused = failure === 'rate_limited' && retryAfterMs !== undefined;
    if (failure === null) this.#breaker.succeeded(ticket, nowMs);
    else if (endpointsFault && failure !== 'cancelled' && !isPaused)
      this.#breaker.failed(ticket, failure, nowMs);
    this.#breaker.leave(ticket);
    if (failure === 'cancelled') return;
    this.recent.add(attemptEnd(failure, endpointsFault), nowMs, this.isBroken(nowMs));
    this.#attempts.add(nowMs);
    this.#tally?.ended(failure, failure !== null && endpointsFault);
    if (failure === null) return;
    if (isPaused) this.#pause(retryAfterMs, nowMs);
    if (endpointsFault) this.#faults.add(nowMs);
    this.#countFailure(failure, 1, nowMs);
  }

  #countFailure(kind: ErrorKind, times: number, nowMs: UnixMs): void {
    let count = this.#failures.get(kind);
    if (!count) this.#failures.set(kind, (count = new DecayingCount()));
    count.add(nowMs, times);
  }

  #measureLatency(stream: boolean, ms: number, nowMs: UnixMs): void {
    this.#measured(stream ? 'streamMs' : 'answerMs', Math.max(0, ms), nowMs);
  }

  #measured(measure: Measure, value: number, nowMs: UnixMs): void {
    this.#tally?.measured(measure, value);
    this.#add(measure, value, nowMs);
  }

  #add(measure: Measure, value: number, nowMs: UnixMs): void {
    switch (measure) {
      case 'streamMs':
        this.#firstToken.add(value, nowMs);
        (this.#streamTimes ??= new FadingHistogram()).add(value, nowMs);
        break;
      case 'answerMs':
        this.#answer.add(value, nowMs);
        (this.#answerTimes ??= new FadingHistogram()).add(value, nowMs);
        break;
      case 'speed':
        this.#speed.add(value, nowMs);
        break;
      case 'outputTokens':
        return (this.#outputTokens ??= new FadingHistogram()).add(value, nowMs);
      case 'cacheHits':
        this.#cacheHits.add(value, nowMs);
    }
    this.#measuredAt = nowMs;
  }

  #measureUsage(usage: Usage, beganAt: UnixMs, firstContentAt: UnixMs, nowMs: UnixMs): void {
    const output = outputTokens(usage);
    this.#measured('outputTokens', output, nowMs);
    // Hidden reasoning was generated before the first content.
    const ms = nowMs - (usage.output.reasoning > 0 ? beganAt : firstContentAt);
    if (output >= LEAST_TOKENS) {
      // An answer that arrived all at once may have been buffered. Its speed is at least that of the whole answer.
      const isBound = ms < LEAST_MS;
      const speed = (output * 1000) / (isBound ? Math.max(nowMs - beganAt, LEAST_MS) : ms);
      if (!isBound || speed > (this.#speed.value ?? 0)) this.#measured('speed', speed, nowMs);
      this.#measuredAt = nowMs;
    }
    const input = inputTokens(usage);
    // The context is larger than the refusal implied, or has been raised.
    if (this.#learned !== null && input + output > this.#learned.context && !usage.estimated)
      this.#learned = null;
    // Our estimates do not include the upstream's cache.
    if (input < LEAST_CACHED_TOKENS || usage.estimated) return;
    this.#measured('cacheHits', usage.input.cacheRead / input, nowMs);
  }

  /** Pauses the endpoint for `ms`, unless it is already paused for longer. */
  #pause(ms: DurationMs, nowMs: UnixMs): void {
    const until = nowMs + Math.min(ms, LONGEST_LIMIT_MS);
    if (until <= this.#limited.until) return;
    this.#tally?.changed();
    this.#limited = { state: 'open', until, reason: `rate limited until ${new Date(until).toISOString()}` };
  }
}

class Lease implements AttemptLease {
  readonly stream: boolean;
  /** Unix milliseconds. */
  readonly began: number;
  readonly ticket: BreakerTicket;
  /** First content of a stream; start of a whole answer. Monotonic milliseconds. */
  firstContentAt: UnixMs;
  readonly #endpoint: MeasuredEndpoint;
  readonly #now: () => UnixMs;
  #isOver = false;

  constructor(
    endpoint: MeasuredEndpoint,
    stream: boolean,
    began: number,
    ticket: BreakerTicket,
    now: () => UnixMs,
  ) {
    this.stream = stream;
    this.began = began;
    this.ticket = ticket;
    this.firstContentAt = began;
    this.#endpoint = endpoint;
    this.#now = now;
  }

  limits(notice: LimitNotice): void {
    this.#endpoint.noteLimits(notice, this.#now());
  }

  firstContent(): void {
    const nowMs = this.#now();
    if (this.stream) this.firstContentAt = nowMs;
    this.#endpoint.showedContent(this, nowMs);
  }

  ended(outcome: AttemptOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endpoint.ended(this, outcome, this.#now());
  }
}
