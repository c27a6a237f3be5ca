// Sends events of this process to subscribers in others, and receives theirs. Nothing is published without subscribers. The
// rate is limited to what a person can follow; further events are dropped and counted.
import { isJsonObject, type JsonObject } from '../../../base/json/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { PubSub } from '../pub-sub.ts';

/** Milliseconds between two messages that this process has subscribers, and for how long others rely on it. */
const WATCHING_MS = 5_000;
const WATCHED_MS = 3 * WATCHING_MS;
/** Milliseconds for which events are collected into one message. */
const GATHER_MS = 250;
/** Maximum number of events in that time, over all processes. Each has an equal share, and at least one event. */
const MOST_EVENTS = 100;
/** Maximum characters of a message. Longer ones are ignored. */
const MOST_CHARS = 262_144;
/** Characters of a message in addition to its events. */
const FRAME_CHARS = 64;
/** Version of the message format. Other versions are ignored. */
const FORM = 1;

type Sent = readonly [type: ForwardedEvent['type'], data: JsonObject];

export interface EventExchangeOptions {
  readonly pubSub: PubSub;
  readonly events: EventSource;
  readonly clock: Pick<Clock, 'after' | 'every'>;
  /** Maximum bytes of a message; absent: no further limit. */
  readonly mostBytes?: number | undefined;
  /** Number of processes. */
  readonly processes: () => number;
}

export class EventExchange {
  readonly #options: EventExchangeOptions;
  #gathered: ForwardedEvent[] = [];
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

  /** Publishes the rest and stops. */
  stop(): void {
    this.#stopAsking?.();
    this.#cancelPublishing?.();
    if (this.#gathered.length > 0) this.#publish();
    this.#stopForwarding();
  }

  /** Asks other processes for their events. */
  #ask(): void {
    const { pubSub, clock } = this.#options;
    const ask = (): void => pubSub.publish('watching', '');
    this.#stopAsking = clock.every(WATCHING_MS, ask);
    ask();
  }

  /** Another process has subscribers, for `WATCHING_MS` unless repeated. */
  #watched(): void {
    const { clock, events } = this.#options;
    this.#cancelLeaving?.();
    this.#cancelLeaving = clock.after(WATCHED_MS, () => this.#stopForwarding());
    events.forward((event) => this.#gather(event));
  }

  #stopForwarding(): void {
    this.#cancelLeaving?.();
    this.#options.events.forward(null);
  }

  #gather(event: ForwardedEvent): void {
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
    for (const event of eventsOf(text)) events.deliver(event);
  }
}

function dataOf(event: ForwardedEvent): JsonObject {
  if (event.type === 'generation') return event.summary();
  const { type, message, data } = event.alert;
  return { type, message, data };
}

/** Events of a message; empty for other versions and invalid messages. */
function eventsOf(text: string): readonly (ForwardedEvent | LostEvents)[] {
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

function eventOf(type: unknown, data: unknown): readonly ForwardedEvent[] {
  if (!isJsonObject(data)) return [];
  if (type === 'generation') return typeof data['id'] === 'string' ? [{ type, summary: () => data }] : [];
  const { type: alertType, message, data: about } = data;
  if (type !== 'alert' || typeof alertType !== 'string' || typeof message !== 'string') return [];
  return isJsonObject(about) ? [{ type, alert: { type: alertType, message, data: about } }] : [];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

// Types of exchanged events, and their source in each process.

export type ForwardedEvent =
  /** A request has ended. The summary is created on demand. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | {
      readonly type: 'alert';
      readonly alert: { readonly type: string; readonly message: string; readonly data: JsonObject };
    };

/** Number of events of other processes that were dropped. */
export interface LostEvents {
  readonly type: 'lost';
  readonly events: number;
}

/** Source of this process's events, and sink for those of others. */
export interface EventSource {
  /** True if this process has subscribers. */
  readonly hasAudience: boolean;
  whenAudience(changed: (isThere: boolean) => void): void;
  /** @param listener receives every event of this process; null: none */
  forward(listener: ((event: ForwardedEvent) => void) | null): void;
  deliver(event: ForwardedEvent | LostEvents): void;
}
