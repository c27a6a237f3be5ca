// Pub/sub through PostgreSQL where nothing else carries events from machine to machine. A table says which process watches; it
// listens on a connection of its own as long as that. Messages are signed: every user of the database may NOTIFY.
import {
  type PubSub,
  Listeners,
  type MessageSignature,
  type Topic,
} from '../../../../cluster/exchange/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import type { NoticeListener, NoticeStore } from '../../../../accounts/ports/index.ts';

/** How often it is looked whether somebody watches elsewhere, in milliseconds. */
const LOOK_MS = 2_000;
/** How long others believe that somebody watches here, in milliseconds: until it is said again, and again. */
const WANTED_MS = 15_000;

export interface NoticeParts {
  /** Names this process, unlike all others. */
  readonly self: string;
  readonly clock: Pick<Clock, 'after' | 'every'>;
  readonly signature: MessageSignature;
}

/** For the topics `watching` and `events`; others need somebody who always listens. */
export class NoticePubSub implements PubSub {
  readonly #store: NoticeStore;
  readonly #parts: NoticeParts;
  readonly #listeners = new Listeners();
  readonly #stopLooking: () => void;
  #listener: NoticeListener | null = null;
  #isOpening = false;
  #isLooking = false;
  #isClosed = false;
  #cancelLeaving: (() => void) | undefined;

  constructor(store: NoticeStore, parts: NoticeParts) {
    this.#store = store;
    this.#parts = parts;
    this.#stopLooking = parts.clock.every(LOOK_MS, () => void this.#look());
  }

  publish(topic: Topic, text: string): void {
    if (topic === 'watching') void this.#watch();
    // A notice that cannot be delivered is lost: the lists have everything.
    if (topic === 'events') this.#store.publish(this.#parts.signature.sign(topic, text)).catch(() => {});
  }

  subscribe(topic: Topic, received: (text: string) => void): void {
    this.#listeners.set(topic, received);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    this.#cancelLeaving?.();
    this.#listener?.close();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const isWanted = await this.#store.isWanted(this.#parts.self).catch(() => false);
    this.#isLooking = false;
    if (isWanted && !this.#isClosed) this.#listeners.take('watching', '');
  }

  /** Somebody watches here, for a while, unless it is said again. */
  async #watch(): Promise<void> {
    const { self, clock } = this.#parts;
    this.#cancelLeaving?.();
    this.#cancelLeaving = clock.after(WANTED_MS, () => this.#listener?.close());
    this.#store.want(self, WANTED_MS).catch(() => {});
    if (this.#isOpening || this.#listener?.isOpen) return;
    this.#isOpening = true;
    // While the database is away it is tried again with the next word that somebody watches.
    this.#listener = await this.#store.subscribe((text) => this.#take(text)).catch(() => null);
    this.#isOpening = false;
    if (this.#isClosed) this.#listener?.close();
  }

  #take(message: string): void {
    this.#listeners.take('events', this.#parts.signature.open('events', message));
  }
}
