// Publishes what routing knows of endpoints: in one message every two seconds, and at once where an endpoint is disabled.
// Nobody asks for it: decisions stay local.
import { ERROR_KINDS } from '../../canonical/index.ts';
import type { EndpointUpdate, HoldUpdate, RoutingUpdate } from '../../engine/routing/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { PubSub } from './pub-sub.ts';

/** How often it is looked whether something is urgent, in milliseconds. */
const LOOK_MS = 250;
/** How often measures are published, in milliseconds: more rarely where many processes publish theirs. */
const PUBLISH_MS = 2000;
const PUBLISH_MS_PER_PROCESS = 20;
/** A longer message is none of ours. */
const MOST_CHARS = 262_144;
/** Characters of a name or a reason, and of what is measured: more is no update. */
const MOST_TEXT = 1_000;
const MOST_AMOUNT = 1e9;
/** As long as an operator may put an endpoint aside, in milliseconds, and a minute for clocks. */
const LONGEST_MS = 7 * 24 * 3_600_000 + 60_000;
/** The form of messages: whoever does not know it does without. */
const FORM = 1;

/** Routing, as far as the exchange uses it. */
interface SharedRouting {
  readonly hasUrgentUpdate: boolean;
  takeUpdate(): RoutingUpdate | null;
  learn(update: RoutingUpdate): void;
}

export interface RoutingExchangeOptions {
  readonly pubSub: PubSub;
  readonly routing: SharedRouting;
  readonly clock: Pick<Clock, 'now' | 'every'>;
  /** How many processes publish. */
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

/** Shorter: three decimals of a share, and none of what is large. */
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

/** Null for what another version means by it, and for what is no update at all. */
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
  // How long it holds is bounded where it is taken.
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
