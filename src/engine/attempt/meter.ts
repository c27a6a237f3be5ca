// Meters an answer as it passes: times, token counts and how it ended. Estimates usage that the upstream did not
// report, calculates the charge, and makes the attempt's record.
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

/** Prompt of a model, with an estimate of its size. */
export interface EstimatedPrompt {
  /** Estimated tokens. */
  estimateInput(): number;
}

export class Meter {
  /** Unix milliseconds of the first content; null before it. */
  firstContentAt: UnixMs | null = null;
  upstreamId: string | null = null;
  usage: Usage | null = null;
  finish: FinishEvent | null = null;
  /** True when the answer ended. Some upstreams do not report a finish reason. */
  isComplete = false;
  error: ErrorEvent | null = null;
  outputChars = 0;
  relayed: RelayTap | undefined;
  /** Encrypted data of the reasoning and compactions in a translated answer. */
  readonly sealed: string[] = [];
  #reasoningChars = 0;
  /** Number of tool calls, hosted tools and items specific to a protocol. */
  #otherItems = 0;

  /** Takes over what was read from a relayed answer. */
  read(tap: RelayTap): void {
    this.relayed = tap;
    this.upstreamId = tap.upstreamId ?? null;
    this.usage = tap.usage ?? null;
    this.finish = tap.finish ?? null;
    this.outputChars = tap.outputChars;
  }

  /** Records an event. @param clock read only at the first content */
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
        if (event.opaque?.kind === 'encrypted') this.sealed.push(event.opaque.data);
        break;
      case 'open':
        if (event.item.type !== 'message' && event.item.type !== 'reasoning') this.#otherItems++;
        if (event.item.type === 'compaction') this.sealed.push(event.item.encrypted);
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

  /** Usage so far, and the characters of all output including reasoning. */
  get soFar(): Pick<RelayTap, 'usage' | 'outputChars'> {
    return { usage: this.usage ?? undefined, outputChars: this.outputChars + this.#reasoningChars };
  }

  /** True when there was no text, no reasoning and no other item. */
  get isEmpty(): boolean {
    return this.outputChars + this.#reasoningChars + this.#otherItems === 0;
  }

  /** True when the upstream produced content; otherwise nothing may be charged. */
  get produced(): boolean {
    return this.firstContentAt !== null;
  }

  get #passedTokens(): number {
    return estimatedTokens(this.outputChars + this.#reasoningChars);
  }

  /**
   * Usage to charge: the upstream's, otherwise an estimate, otherwise null. For an interrupted answer, the upstream's
   * earlier count is raised to what was received since.
   * @param prompt estimated only when the upstream did not report usage
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

/** Usage of an interrupted answer, with at least as many output tokens as were received. */
function withPassed(usage: Usage, passedTokens: number): Usage {
  const uncounted = passedTokens - outputTokens(usage);
  if (uncounted <= 0) return usage;
  const { output } = usage;
  return { ...usage, output: { ...output, text: output.text + uncounted }, estimated: true };
}

// Record of one attempt in the ledger.

export interface AttemptCourse {
  readonly startedAt: UnixMs;
  readonly endedAt: UnixMs;
  /** Times when the request was passed to a connection and when the head of the answer arrived. `null`: never. */
  readonly sentAt: UnixMs | null;
  readonly answeredAt: UnixMs | null;
  readonly status: AttemptRecord['status'];
  readonly error: GatewayError | undefined;
  readonly meter: Pick<Meter, 'firstContentAt' | 'upstreamId'>;
  readonly charge: Charge;
}

/** Usage and cost of an attempt. Null: it produced nothing. */
export interface Charge {
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

/** Charge of an attempt so far. @param error how it failed; undefined: it did not */
export function chargeOf(prepared: PreparedAttempt, meter: Meter, error: GatewayError | undefined): Charge {
  // A failure before the first content delivered nothing, whatever was counted.
  const nothing = error && error.kind !== 'cancelled' && !meter.produced;
  // A background answer is counted when it is complete.
  const later = prepared.request.background && !meter.usage;
  const usage = nothing || later ? null : meter.settledUsage(prepared);
  const price = prepared.isListPriced ? prepared.endpoint.price : null;
  return { usage, cost: usage && costOf(usage, price) };
}

export function attemptRecord(
  { requester, prepared }: AttemptInput,
  { ordinal }: Pick<AttemptNumber, 'ordinal'>,
  { startedAt, endedAt, sentAt, answeredAt, status, error, meter, charge }: AttemptCourse,
): AttemptRecord {
  const { endpoint, lane } = prepared;
  const { recordId: id } = requester.arrival;
  return {
    // Time-ordered like the generation's id, so that rows of one hour are adjacent in the index.
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
