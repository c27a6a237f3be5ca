// Pub/sub through PostgreSQL when there is no other channel between machines. A table lists the processes with
// subscribers, which listen on their own connection. Messages are signed, because every database user may NOTIFY.
import {
  type PubSub,
  Listeners,
  type MessageSignature,
  type Topic,
} from '../../../../cluster/exchange/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import type { NoticeListener, NoticeStore } from '../../../../accounts/ports/index.ts';

/** Interval of checking for subscribers elsewhere, in milliseconds. */
const LOOK_MS = 2_000;
/** Lifetime of a subscriber entry in milliseconds; it is renewed. */
const WANTED_MS = 15_000;

export interface NoticeParts {
  /** Unique name of this process. */
  readonly self: string;
  readonly clock: Pick<Clock, 'after' | 'every'>;
  readonly signature: MessageSignature;
}

/** For the topics `watching` and `events`; others would need permanent listeners. */
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
    // An undeliverable notice is dropped, because the lists contain everything.
    if (topic === 'events') this.#store.publish(this.#parts.signature.sign(topic, text)).catch(() => {});
  }

  publishCounted(topic: Topic, text: string): Promise<null> {
    this.publish(topic, text);
    return Promise.resolve(null);
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

  /** Listens for a subscriber here, until the entry expires. */
  async #watch(): Promise<void> {
    const { self, clock } = this.#parts;
    this.#cancelLeaving?.();
    this.#cancelLeaving = clock.after(WANTED_MS, () => this.#listener?.close());
    this.#store.want(self, WANTED_MS).catch(() => {});
    if (this.#isOpening || this.#listener?.isOpen) return;
    this.#isOpening = true;
    // While the database is unavailable, the next renewal tries again.
    this.#listener = await this.#store.subscribe((text) => this.#take(text)).catch(() => null);
    this.#isOpening = false;
    if (this.#isClosed) this.#listener?.close();
  }

  #take(message: string): void {
    this.#listeners.take('events', this.#parts.signature.open('events', message));
  }
}
