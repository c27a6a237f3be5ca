// Reads an answer as it passes: times, token counts, how it ended. Estimates what an upstream did not count, charges it and makes
// the record of the attempt.
import {
  type CanonicalEvent,
  type ErrorEvent,
  type FinishEvent,
  type GatewayError,
  isContent,
  NO_USAGE,
  outputTokens,
  type Usage,
} from '../../canonical/index.ts';
import { type AttemptRecord, type Cost, costOf, estimatedTokens } from '../../accounts/ledger/index.ts';
import type { RelayTap } from '../../protocols/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';
import { summariseError } from './error-words.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { UnixMs } from '../../base/units.ts';

/** Prompt of a model, by estimate. */
export interface EstimatedPrompt {
  /** Its tokens, roughly. */
  estimateInput(): number;
}

export class Meter {
  /** Unix milliseconds of the first content; null before it. */
  firstContentAt: UnixMs | null = null;
  upstreamId: string | null = null;
  usage: Usage | null = null;
  finish: FinishEvent | null = null;
  /** Whether the answer came to its end; some upstreams do not say how. */
  isComplete = false;
  error: ErrorEvent | null = null;
  outputChars = 0;
  relayed: RelayTap | undefined;
  #reasoningChars = 0;
  /** Calls, hosted tools and items that only their protocol knows. */
  #otherItems = 0;

  /** Takes what was read off a relayed answer. */
  read(tap: RelayTap): void {
    this.relayed = tap;
    this.upstreamId = tap.upstreamId ?? null;
    this.usage = tap.usage ?? null;
    this.finish = tap.finish ?? null;
    this.outputChars = tap.outputChars;
  }

  /** Notes an event. @param clock read only when the event is the first content */
  note(event: CanonicalEvent, clock: Pick<Clock, 'now'>): void {
    switch (event.type) {
      case 'start':
        this.upstreamId = event.id ?? null;
        return;
      case 'text':
      case 'arguments':
        this.outputChars += event.text.length;
        break;
      case 'piece':
        this.outputChars += event.chars;
        break;
      case 'reasoning':
        this.#reasoningChars += event.text.length;
        break;
      case 'open':
        if (event.item.type !== 'message' && event.item.type !== 'reasoning') this.#otherItems++;
        break;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'finish':
        this.finish = event;
        break;
      case 'error':
        this.error = event;
        return;
      default:
    }
    if (this.firstContentAt === null && isContent(event)) this.firstContentAt = clock.now();
  }

  /** Usage so far, and the characters of everything that the model wrote. */
  get soFar(): Pick<RelayTap, 'usage' | 'outputChars'> {
    return { usage: this.usage ?? undefined, outputChars: this.outputChars + this.#reasoningChars };
  }

  /** True when no text, no reasoning and no item of another kind passed. */
  get isEmpty(): boolean {
    return this.outputChars + this.#reasoningChars + this.#otherItems === 0;
  }

  /** True when the upstream produced something: without it nothing may be charged. */
  get produced(): boolean {
    return this.firstContentAt !== null;
  }

  get #passedTokens(): number {
    return estimatedTokens(this.outputChars + this.#reasoningChars);
  }

  /**
   * The counts to settle with: the upstream's, else an estimate of what passed, else null. What an upstream counted before
   * the end of an answer that was cut short is corrected by what passed since.
   * @param prompt asked only where the upstream did not count
   */
  settledUsage(prompt: EstimatedPrompt): Usage | null {
    if (this.usage)
      return this.isComplete || this.finish ? this.usage : withPassed(this.usage, this.#passedTokens);
    if (!this.produced) return null;
    return {
      ...NO_USAGE,
      input: { ...NO_USAGE.input, uncached: prompt.estimateInput() },
      output: {
        ...NO_USAGE.output,
        text: estimatedTokens(this.outputChars),
        reasoning: estimatedTokens(this.#reasoningChars),
      },
      estimated: true,
    };
  }
}

/** Counts of an answer that was cut short: as many output tokens as passed, where the upstream had not counted them yet. */
function withPassed(usage: Usage, passedTokens: number): Usage {
  const uncounted = passedTokens - outputTokens(usage);
  if (uncounted <= 0) return usage;
  const { output } = usage;
  return { ...usage, output: { ...output, text: output.text + uncounted }, estimated: true };
}

// Record of one attempt in the ledger. Only the shape: the attempt knows what happened.

export interface AttemptCourse {
  readonly startedAt: UnixMs;
  readonly endedAt: UnixMs;
  /** When the request was handed to a connection, and when the head of the answer came. `null`: never. */
  readonly sentAt: UnixMs | null;
  readonly answeredAt: UnixMs | null;
  readonly status: AttemptRecord['status'];
  readonly error: GatewayError | undefined;
  readonly meter: Pick<Meter, 'firstContentAt' | 'upstreamId'>;
  readonly charge: Charge;
}

/** Counts and cost of an attempt; null where it produced nothing. */
export interface Charge {
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

/** Charge of an attempt, as far as it went. @param error how it failed; undefined where it did not */
export function chargeOf(prepared: PreparedAttempt, meter: Meter, error: GatewayError | undefined): Charge {
  // A failure before the first content delivered nothing, whatever was counted by then.
  const nothing = error && error.kind !== 'cancelled' && !meter.produced;
  // An answer in the background is counted when it is done.
  const later = prepared.request.background && !meter.usage;
  const usage = nothing || later ? null : meter.settledUsage(prepared);
  const price = prepared.isListPriced ? prepared.endpoint.price : null;
  return { usage, cost: usage && costOf(usage, price) };
}

/** The record of an attempt. */
export function attemptRecord(
  { requester, prepared }: AttemptInput,
  { ordinal }: Pick<AttemptNumber, 'ordinal'>,
  { startedAt, endedAt, sentAt, answeredAt, status, error, meter, charge }: AttemptCourse,
): AttemptRecord {
  const { endpoint, lane } = prepared;
  const { recordId: id } = requester.arrival;
  return {
    // Time-ordered, as the generation's own id: rows of one hour lie together in the index.
    id: `${id}-${ordinal}`,
    generationId: id,
    ordinal,
    provider: endpoint.provider,
    endpoint: endpoint.slug,
    model: endpoint.model,
    protocol: endpoint.protocol,
    lane,
    startedAt,
    firstContentAt: meter.firstContentAt,
    endedAt,
    outcome: !error ? 'completed' : error.kind === 'cancelled' ? 'cancelled' : 'failed',
    status,
    upstreamId: meter.upstreamId ?? error?.upstream?.requestId ?? null,
    error: error ? summariseError(error) : null,
    usage: charge.usage,
    cost: charge.cost,
    queuedMs: sentAt === null ? null : sentAt - startedAt,
    headersMs: answeredAt === null ? null : answeredAt - startedAt,
  };
}
