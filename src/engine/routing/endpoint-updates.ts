// Updates of endpoints that one process publishes, and collects until then. Times are durations: clocks differ.
import type { ErrorKind } from '../../canonical/index.ts';
import type { EndpointId, Standing } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Most values of each measure of an endpoint at a time: others need no more to know how fast it is. */
const MOST_MEASURES = 8;

/** First content of streams, whole answers (milliseconds), tokens per second, tokens of answers, and shares of prompts that were cached. */
const MEASURES = ['streamMs', 'answerMs', 'speed', 'outputTokens', 'cacheHits'] as const;
export type Measure = (typeof MEASURES)[number];

/** Why an endpoint is left alone, and for how much longer, in milliseconds. */
export interface LeftAlone {
  readonly forMs: DurationMs;
  readonly reason: string;
}

/** Measures of an endpoint since the last update, and its state where that has changed. */
export interface EndpointUpdate extends EndpointId {
  readonly measures: Readonly<Partial<Record<Measure, readonly number[]>>>;
  /** Attempts that ended, and those of them that failed by the endpoint's fault. */
  readonly attempts: number;
  readonly faults: number;
  readonly failures: Readonly<Partial<Record<ErrorKind, number>>>;
  /** An operator has taken it back: whatever had put it aside before this is forgotten. */
  readonly isTakenBack?: true;
  /** Absent: as before. */
  readonly limited?: LeftAlone;
  readonly disabled?: LeftAlone;
  /** Null: one request has shown that it is sound again. */
  readonly broken?: LeftAlone | null;
}

/** Endpoint at which a conversation's prefix is cached, and for how much longer. */
export interface HoldUpdate extends EndpointId {
  readonly conversation: string;
  readonly forMs: DurationMs;
}

export interface RoutingUpdate {
  readonly endpoints: readonly EndpointUpdate[];
  readonly holds: readonly HoldUpdate[];
}

/** Reason why an endpoint is left alone, and until when. */
export type Standings = Readonly<Record<'limited' | 'broken' | 'disabled', Standing>>;

const NAMES = ['limited', 'broken', 'disabled'] as const;

/** Update of one endpoint. */
export class Tally {
  readonly #onChange: () => void;
  #measures: Partial<Record<Measure, number[]>> = {};
  #attempts = 0;
  #faults = 0;
  #failures: Partial<Record<ErrorKind, number>> = {};
  #isTakenBack = false;
  /** Until when it was left alone, as others were told. */
  #published: Record<keyof Standings, number | null> = { limited: null, broken: null, disabled: null };

  /** @param onChange called with everything that is new */
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

  /** It may stand otherwise now. */
  changed(): void {
    this.#onChange();
  }

  takenBack(): void {
    this.#isTakenBack = true;
    this.#onChange();
  }

  /** Whether others know how it stands. What is over by its time is over everywhere. */
  isPublished(standings: Standings): boolean {
    return !this.#isTakenBack && NAMES.every((name) => this.#isKnown(name, standings[name]));
  }

  /** Others know it: they have told it. */
  markPublished(standings: Standings): void {
    for (const name of NAMES) this.#published[name] = standings[name].until;
  }

  /** Takes what is new, which is not new any more then. */
  take(endpoint: EndpointId, standings: Standings, nowMs: UnixMs): EndpointUpdate {
    const changes: { limited?: LeftAlone; disabled?: LeftAlone; broken?: LeftAlone | null } = {};
    for (const name of NAMES) {
      const { until, reason } = standings[name];
      if (this.#isKnown(name, standings[name])) continue;
      if (until !== null && until > nowMs) changes[name] = { forMs: until - nowMs, reason: reason ?? '' };
    }
    if (standings.broken.state === 'closed' && this.#published.broken !== null) changes.broken = null;
    const isTakenBack = this.#isTakenBack;
    this.#isTakenBack = false;
    this.markPublished(standings);
    const update: EndpointUpdate = {
      modelId: endpoint.modelId,
      slug: endpoint.slug,
      measures: this.#measures,
      attempts: this.#attempts,
      faults: this.#faults,
      failures: this.#failures,
      ...(isTakenBack && { isTakenBack }),
      ...changes,
    };
    this.#measures = {};
    this.#failures = {};
    this.#attempts = this.#faults = 0;
    return update;
  }

  #isKnown(name: keyof Standings, { until }: Standing): boolean {
    return until === this.#published[name] || (until === null && name !== 'broken');
  }
}
