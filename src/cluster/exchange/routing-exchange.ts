// Publishes routing's measurements of endpoints every two seconds, and immediately when an endpoint is disabled. Each
// process still decides locally.
import { ERROR_KINDS } from '../../canonical/index.ts';
import type { EndpointUpdate, HoldUpdate, RoutingUpdate } from '../../engine/routing/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { PubSub } from './pub-sub.ts';

/** Milliseconds between two checks for urgent updates. */
const LOOK_MS = 250;
/** Milliseconds between two publications of measurements; longer with many processes. */
const PUBLISH_MS = 2000;
const PUBLISH_MS_PER_PROCESS = 20;
/** Maximum characters of a message. Longer ones are ignored. */
const MOST_CHARS = 262_144;
/** Maximum characters of a name, a reason or a measurement. */
const MOST_TEXT = 1_000;
const MOST_AMOUNT = 1e9;
/** Longest time for which an endpoint can be disabled, in milliseconds, plus a minute for differing clocks. */
const LONGEST_MS = 7 * 24 * 3_600_000 + 60_000;
/** Version of the message format. Other versions are ignored. */
const FORM = 1;

/** Part of routing that the exchange uses. */
interface SharedRouting {
  readonly hasUrgentUpdate: boolean;
  takeUpdate(): RoutingUpdate | null;
  learn(update: RoutingUpdate): void;
}

export interface RoutingExchangeOptions {
  readonly pubSub: PubSub;
  readonly routing: SharedRouting;
  readonly clock: Pick<Clock, 'now' | 'every'>;
  /** Number of processes. */
  readonly processes: () => number;
}

export class RoutingExchange {
  readonly #options: RoutingExchangeOptions;
  readonly #stopLooking: () => void;
  #publishedAt = 0;

  constructor(options: RoutingExchangeOptions) {
    this.#options = options;
    options.pubSub.subscribe('routing', (text) => {
      const update = updateOf(text);
      if (update) options.routing.learn(update);
    });
    this.#stopLooking = options.clock.every(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stopLooking();
  }

  #look(): void {
    const { routing, clock, pubSub, processes } = this.#options;
    const everyMs = Math.max(PUBLISH_MS, PUBLISH_MS_PER_PROCESS * processes());
    if (Math.abs(clock.now() - this.#publishedAt) < everyMs && !routing.hasUrgentUpdate) return;
    this.#publishedAt = clock.now();
    const update = routing.takeUpdate();
    if (update) pubSub.publish('routing', JSON.stringify([FORM, rounded(update)]));
  }
}

/** Rounds numbers: three decimals for small ones, none for large ones. */
function rounded(update: RoutingUpdate): unknown {
  const short = (value: number): number => (value < 10 ? Math.round(value * 1000) / 1000 : Math.round(value));
  return {
    ...update,
    endpoints: update.endpoints.map(({ measures, ...rest }) => ({
      ...rest,
      measures: Object.fromEntries(
        Object.entries(measures).map(([name, values]) => [name, values.map(short)]),
      ),
    })),
  };
}

/** Update in a message; null for other versions and invalid messages. */
function updateOf(text: string): RoutingUpdate | null {
  if (text.length > MOST_CHARS) return null;
  try {
    const [form, update] = JSON.parse(text) as readonly [unknown, RoutingUpdate];
    const isValid =
      form === FORM && update.endpoints.every(isEndpointUpdate) && update.holds.every(isHoldUpdate);
    return isValid ? update : null;
  } catch {
    return null;
  }
}

function isEndpointUpdate(update: EndpointUpdate): boolean {
  const { modelId, slug, measures, attempts, faults, failures, limited, broken, disabled } = update;
  const numbers = [attempts, faults, ...Object.values(failures), ...Object.values(measures).flat()];
  const reasons = [limited, broken, disabled].filter((one) => one !== undefined && one !== null);
  return (
    areTexts(modelId, slug) &&
    Object.keys(failures).every((kind) => Object.hasOwn(ERROR_KINDS, kind)) &&
    numbers.every(isAmount) &&
    reasons.every(({ forMs, reason }) => isDuration(forMs) && areTexts(reason))
  );
}

function isHoldUpdate({ conversation, modelId, slug, forMs }: HoldUpdate): boolean {
  // The receiver bounds the duration.
  return areTexts(conversation, modelId, slug) && Number.isFinite(forMs) && forMs >= 0;
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string' && value.length <= MOST_TEXT);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MOST_AMOUNT;
}

function isDuration(value: unknown): boolean {
  return isAmount(value) && (value as number) <= LONGEST_MS;
}
