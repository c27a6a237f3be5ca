// What routing knows of endpoints, told to the other processes in one message now and then, and at once where an endpoint is to be
// left alone. Nobody asks for it: decisions stay local.
import type { EndpointNews, HoldNews, RoutingNews } from '../routing/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Bulletin } from './bulletin.ts';

/** How often it is looked whether something is urgent, in milliseconds. */
const LOOK_MS = 250;
/** How often measures are told, in milliseconds: more rarely where many processes tell theirs. */
const TELL_MS = 2000;
const TELL_MS_PER_PROCESS = 20;
/** A longer message is none of ours. */
const MOST_CHARS = 262_144;
/** The form of messages: whoever does not know it does without. */
const FORM = 1;

/** What routing has to offer for it. */
interface SharedRouting {
  readonly hasUrgentNews: boolean;
  takeNews(): RoutingNews | null;
  learn(news: RoutingNews): void;
}

export interface RoutingExchangeOptions {
  readonly bulletin: Bulletin;
  readonly routing: SharedRouting;
  readonly clock: Pick<Clock, 'now' | 'every'>;
  /** How many processes tell each other. */
  readonly processes: () => number;
}

export class RoutingExchange {
  readonly #options: RoutingExchangeOptions;
  readonly #stopLooking: () => void;
  #toldAt = 0;

  constructor(options: RoutingExchangeOptions) {
    this.#options = options;
    options.bulletin.hear('routing', (text) => {
      const news = newsOf(text);
      if (news) options.routing.learn(news);
    });
    this.#stopLooking = options.clock.every(LOOK_MS, () => this.#look());
  }

  stop(): void {
    this.#stopLooking();
  }

  #look(): void {
    const { routing, clock, bulletin, processes } = this.#options;
    const everyMs = Math.max(TELL_MS, TELL_MS_PER_PROCESS * processes());
    if (Math.abs(clock.now() - this.#toldAt) < everyMs && !routing.hasUrgentNews) return;
    this.#toldAt = clock.now();
    const news = routing.takeNews();
    if (news) bulletin.tell('routing', JSON.stringify([FORM, rounded(news)]));
  }
}

/** Shorter: three decimals of a share, and none of what is large. */
function rounded(news: RoutingNews): unknown {
  const short = (value: number): number => (value < 10 ? Math.round(value * 1000) / 1000 : Math.round(value));
  return {
    ...news,
    endpoints: news.endpoints.map(({ measures, ...rest }) => ({
      ...rest,
      measures: Object.fromEntries(
        Object.entries(measures).map(([name, values]) => [name, values.map(short)]),
      ),
    })),
  };
}

/** Null for what another version means by it, and for what is no news at all. */
function newsOf(text: string): RoutingNews | null {
  if (text.length > MOST_CHARS) return null;
  try {
    const [form, news] = JSON.parse(text) as readonly [unknown, RoutingNews];
    const isNews = form === FORM && news.endpoints.every(isEndpointNews) && news.holds.every(isHoldNews);
    return isNews ? news : null;
  } catch {
    return null;
  }
}

function isEndpointNews(news: EndpointNews): boolean {
  const { modelId, slug, measures, attempts, faults, failures, limited, broken, aside } = news;
  const numbers = [attempts, faults, ...Object.values(failures), ...Object.values(measures).flat()];
  const reasons = [limited, broken, aside].filter((one) => one !== undefined && one !== null);
  return (
    areTexts(modelId, slug) &&
    numbers.every(isAmount) &&
    reasons.every(({ forMs, reason }) => isAmount(forMs) && areTexts(reason))
  );
}

function isHoldNews({ conversation, modelId, slug, forMs }: HoldNews): boolean {
  return areTexts(conversation, modelId, slug) && isAmount(forMs);
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
