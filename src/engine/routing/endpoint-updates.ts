// Updates of endpoints, collected until this process publishes them. Times are durations, because clocks differ.
import type { ErrorKind } from '../../canonical/index.ts';
import type { EndpointId, Availability } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Maximum values per measure and update of an endpoint; others need no more. */
const MOST_MEASURES = 8;

/**
 * First content of streams and whole answers (milliseconds), tokens per second, output tokens, and cached share of
 * prompts.
 */
const MEASURES = ['streamMs', 'answerMs', 'speed', 'outputTokens', 'cacheHits'] as const;
export type Measure = (typeof MEASURES)[number];

/** Reason why an endpoint is avoided, and remaining milliseconds. */
export interface PauseUpdate {
  readonly forMs: DurationMs;
  readonly reason: string;
}

/** Measures of an endpoint since the last update, and its changed state. */
export interface EndpointUpdate extends EndpointId {
  readonly measures: Readonly<Partial<Record<Measure, readonly number[]>>>;
  /** Ended attempts, and those that failed through the endpoint's fault. */
  readonly attempts: number;
  readonly faults: number;
  readonly failures: Readonly<Partial<Record<ErrorKind, number>>>;
  /** An operator enabled it again, which clears all earlier states. */
  readonly isEnabledAgain?: true;
  /** Absent: unchanged. */
  readonly limited?: PauseUpdate;
  readonly disabled?: PauseUpdate;
  /** Null: a request has succeeded again. */
  readonly broken?: PauseUpdate | null;
}

/** Endpoint to which a conversation returns, and for how much longer. */
export interface HoldUpdate extends EndpointId {
  readonly conversation: string;
  readonly forMs: DurationMs;
}

export interface RoutingUpdate {
  readonly endpoints: readonly EndpointUpdate[];
  readonly holds: readonly HoldUpdate[];
}

/** Why and until when an endpoint is avoided. */
export type EndpointPauses = Readonly<Record<'limited' | 'broken' | 'disabled', Availability>>;

const NAMES = ['limited', 'broken', 'disabled'] as const;

/** Update of one endpoint. */
export class Tally {
  readonly #onChange: () => void;
  #measures: Partial<Record<Measure, number[]>> = {};
  #attempts = 0;
  #faults = 0;
  #failures: Partial<Record<ErrorKind, number>> = {};
  #isEnabledAgain = false;
  /** End of each state, as published. */
  #published: Record<keyof EndpointPauses, number | null> = { limited: null, broken: null, disabled: null };

  /** @param onChange called at each change */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  measured(measure: Measure, value: number): void {
    const values = (this.#measures[measure] ??= []);
    if (values.length < MOST_MEASURES) values.push(value);
  }

  ended(failure: ErrorKind | null, isFault: boolean): void {
    this.#attempts += 1;
    if (isFault) this.#faults += 1;
    if (failure !== null) this.#failures[failure] = (this.#failures[failure] ?? 0) + 1;
    this.#onChange();
  }

  /** The state may have changed. */
  changed(): void {
    this.#onChange();
  }

  enabledAgain(): void {
    this.#isEnabledAgain = true;
    this.#onChange();
  }

  /** True when other processes know the state. States expire everywhere by themselves. */
  isPublished(pauses: EndpointPauses): boolean {
    return !this.#isEnabledAgain && NAMES.every((name) => this.#isKnown(name, pauses[name]));
  }

  /** Marks states received from other processes as published. */
  markPublished(pauses: EndpointPauses): void {
    for (const name of NAMES) this.#published[name] = pauses[name].until;
  }

  /** Takes the collected update and resets it. */
  take(endpoint: EndpointId, pauses: EndpointPauses, nowMs: UnixMs): EndpointUpdate {
    const changes: { limited?: PauseUpdate; disabled?: PauseUpdate; broken?: PauseUpdate | null } = {};
    for (const name of NAMES) {
      const { until, reason } = pauses[name];
      if (this.#isKnown(name, pauses[name])) continue;
      if (until !== null && until > nowMs) changes[name] = { forMs: until - nowMs, reason: reason ?? '' };
    }
    if (pauses.broken.state === 'closed' && this.#published.broken !== null) changes.broken = null;
    const isEnabledAgain = this.#isEnabledAgain;
    this.#isEnabledAgain = false;
    this.markPublished(pauses);
    const update: EndpointUpdate = {
      modelId: endpoint.modelId,
      slug: endpoint.slug,
      measures: this.#measures,
      attempts: this.#attempts,
      faults: this.#faults,
      failures: this.#failures,
      ...(isEnabledAgain && { isEnabledAgain }),
      ...changes,
    };
    this.#measures = {};
    this.#failures = {};
    this.#attempts = this.#faults = 0;
    return update;
  }

  #isKnown(name: keyof EndpointPauses, { until }: Availability): boolean {
    return until === this.#published[name] || (until === null && name !== 'broken');
  }
}
