// Events of this process for whoever watches in another, and the other way round. Nothing is published while nobody watches
// anywhere, and no more than a person can see: what is beyond it is lost, and counted.
import { isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { PubSub } from '../pub-sub.ts';

/** How often it is published that somebody watches here, in milliseconds, and for how long others believe it. */
const WATCHING_MS = 5_000;
const WATCHED_MS = 3 * WATCHING_MS;
/** How long events wait for others to go with them, in milliseconds. */
const GATHER_MS = 250;
/** Events in that time, of all processes together; each has the same share, and may always publish one. */
const MOST_EVENTS = 100;
/** All that is published in that time, in characters: a longer message is none of ours. */
const MOST_CHARS = 262_144;
/** Characters of a message beside its events. */
const FRAME_CHARS = 64;
/** The form of messages: whoever does not know it does without. */
const FORM = 1;

type Sent = readonly [type: CarriedEvent['type'], data: JsonObject];

export interface EventExchangeOptions {
  readonly pubSub: PubSub;
  readonly events: EventSource;
  readonly clock: Pick<Clock, 'after' | 'every'>;
  /** Bytes of one message; absent: as many as are published at a time. */
  readonly mostBytes?: number | undefined;
  /** How many processes publish. */
  readonly processes: () => number;
}

export class EventExchange {
  readonly #options: EventExchangeOptions;
  #gathered: CarriedEvent[] = [];
  #lost = 0;
  #stopAsking: (() => void) | undefined;
  #cancelPublishing: (() => void) | undefined;
  #cancelLeaving: (() => void) | undefined;

  constructor(options: EventExchangeOptions) {
    this.#options = options;
    const { pubSub, events } = options;
    events.whenAudience((isThere) => {
      if (isThere) this.#ask();
      else this.#stopAsking?.();
    });
    pubSub.subscribe('watching', () => this.#watched());
    pubSub.subscribe('events', (text) => this.#take(text));
  }

  /** Publishes what is left, and no more. */
  stop(): void {
    this.#stopAsking?.();
    this.#cancelPublishing?.();
    if (this.#gathered.length > 0) this.#publish();
    this.#unwatched();
  }

  /** Has others tell of what happens there. */
  #ask(): void {
    const { pubSub, clock } = this.#options;
    const ask = (): void => pubSub.publish('watching', '');
    this.#stopAsking = clock.every(WATCHING_MS, ask);
    ask();
  }

  /** Somebody watches in another process: for a while, unless it is said again. */
  #watched(): void {
    const { clock, events } = this.#options;
    this.#cancelLeaving?.();
    this.#cancelLeaving = clock.after(WATCHED_MS, () => this.#unwatched());
    events.carry((event) => this.#gather(event));
  }

  #unwatched(): void {
    this.#cancelLeaving?.();
    this.#options.events.carry(null);
  }

  #gather(event: CarriedEvent): void {
    const { clock, processes } = this.#options;
    this.#gathered.push(event);
    if (this.#gathered.length > Math.max(1, Math.floor(MOST_EVENTS / processes()))) {
      this.#gathered.shift();
      this.#lost += 1;
    }
    this.#cancelPublishing ??= clock.after(GATHER_MS, () => this.#publish());
  }

  #publish(): void {
    this.#cancelPublishing = undefined;
    let room = MOST_CHARS - FRAME_CHARS;
    const most = (this.#options.mostBytes ?? Infinity) - FRAME_CHARS;
    let texts: string[] = [];
    let bytes = 0;
    for (const event of this.#gathered) {
      const text = JSON.stringify([event.type, dataOf(event)] satisfies Sent);
      const own = Buffer.byteLength(text) + 1;
      if (text.length >= room || own > most) {
        this.#lost += 1;
        continue;
      }
      if (bytes + own > most) {
        this.#send(texts);
        texts = [];
        bytes = 0;
      }
      texts.push(text);
      room -= text.length + 1;
      bytes += own;
    }
    this.#send(texts);
    this.#gathered = [];
  }

  #send(texts: readonly string[]): void {
    this.#options.pubSub.publish('events', `[${FORM},${this.#lost},[${texts.join(',')}]]`);
    this.#lost = 0;
  }

  #take(text: string): void {
    const { events } = this.#options;
    if (!events.hasAudience) return;
    for (const event of eventsOf(text)) events.bring(event);
  }
}

function dataOf(event: CarriedEvent): JsonObject {
  if (event.type === 'generation') return event.summary();
  const { type, message, data } = event.alert;
  return { type, message, data };
}

/** None of what another version means by it, and of what is no event at all. */
function eventsOf(text: string): readonly (CarriedEvent | LostEvents)[] {
  if (text.length > MOST_CHARS) return [];
  try {
    const [form, lost, received] = JSON.parse(text) as readonly [unknown, unknown, readonly Sent[]];
    if (form !== FORM) return [];
    const events = received.flatMap(([type, data]) => eventOf(type, data));
    return isCount(lost) ? [...events, { type: 'lost', events: lost }] : events;
  } catch {
    return [];
  }
}

function eventOf(type: unknown, data: unknown): readonly CarriedEvent[] {
  if (!isJsonObject(data)) return [];
  if (type === 'generation') return typeof data['id'] === 'string' ? [{ type, summary: () => data }] : [];
  const { type: alertType, message, data: about } = data;
  if (type !== 'alert' || typeof alertType !== 'string' || typeof message !== 'string') return [];
  return isJsonObject(about) ? [{ type, alert: { type: alertType, message, data: about } }] : [];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

// Events that processes of one installation publish to each other, and what gives and takes them in each process.

export type CarriedEvent =
  /** A request has ended. The summary is made only when it is asked for. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | {
      readonly type: 'alert';
      readonly alert: { readonly type: string; readonly message: string; readonly data: JsonObject };
    };

/** A number of events of other processes that were not published. */
export interface LostEvents {
  readonly type: 'lost';
  readonly events: number;
}

/** Source of events of this process, and sink for those of others. */
export interface EventSource {
  /** Whether somebody listens in this process. */
  readonly hasAudience: boolean;
  whenAudience(changed: (isThere: boolean) => void): void;
  /** @param listener gets every event of this process; null: nobody does */
  carry(listener: ((event: CarriedEvent) => void) | null): void;
  bring(event: CarriedEvent | LostEvents): void;
}
