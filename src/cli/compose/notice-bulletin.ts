// What happens, told through the database where nothing else carries it from machine to machine: who watches says so in a table
// that the others look at, and listens on a connection of its own as long as that.
import { type Bulletin, Listeners, type Topic } from '../../exchange/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NoticeListener, NoticeStore } from '../../storage/ports.ts';

/** How often it is looked whether somebody watches elsewhere, in milliseconds. */
const LOOK_MS = 2_000;
/** How long others believe that somebody watches here, in milliseconds: until it is said again, and again. */
const WANTED_MS = 15_000;

export interface NoticeParts {
  /** Names this process, unlike all others. */
  readonly self: string;
  readonly clock: Pick<Clock, 'after' | 'every'>;
}

/** For the topics `watching` and `events`; others need somebody who always listens. */
export class NoticeBulletin implements Bulletin {
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

  tell(topic: Topic, text: string): void {
    const { self } = this.#parts;
    if (topic === 'watching') void this.#watch();
    // What is not reached is lost: the lists have everything.
    if (topic === 'events') this.#store.send(`${self} ${text}`).catch(() => {});
  }

  hear(topic: Topic, heard: (text: string) => void): void {
    this.#listeners.set(topic, heard);
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
    this.#listener = await this.#store.hear((text) => this.#take(text)).catch(() => null);
    this.#isOpening = false;
    if (this.#isClosed) this.#listener?.close();
  }

  #take(text: string): void {
    const at = text.indexOf(' ');
    if (text.slice(0, at) !== this.#parts.self) this.#listeners.take('events', text.slice(at + 1));
  }
}
