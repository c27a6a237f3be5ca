// Pub/sub through a server of Valkey or Redis. The subscription has a connection of its own, which is made again where it broke.
// Messages that were published meanwhile are lost.
import { type PubSub, Listeners, type Topic } from '../exchange/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { RedisListener } from '../../base/runtime/redis.ts';
import type { ValkeyServer } from './server.ts';

/** Name of the channel. Other versions of the program know it, too. */
const NAME = 'told';
/** How often it is looked whether the connection is there, in milliseconds. */
const LOOK_MS = 1000;
/** How long the server may be silent on it before it is asked whether it is there, in milliseconds. Where several processes
 * publish what they know every two seconds, it hardly ever is. */
const QUIET_MS = 1500;
/** How long it may be silent before it counts as gone, in milliseconds: two seconds and more after it was asked. */
const SILENT_MS = 4500;

export class ValkeyPubSub implements PubSub {
  readonly #server: Pick<ValkeyServer, 'listen' | 'publish'>;
  readonly #self: string;
  readonly #elapsed: () => number;
  readonly #listeners = new Listeners();
  readonly #stopLooking: () => void;
  #listener: RedisListener | null = null;
  #isOpening = false;
  /** When something was received from the server last, by `elapsed`. */
  #receivedAt = 0;
  #isClosed = false;

  /** @param self names this process, unlike all others @param elapsed milliseconds that only go forward */
  constructor(
    server: Pick<ValkeyServer, 'listen' | 'publish'>,
    { self, clock, elapsed }: { self: string; clock: Pick<Clock, 'every'>; elapsed: () => number },
  ) {
    this.#server = server;
    this.#self = self;
    this.#elapsed = elapsed;
    this.#stopLooking = clock.every(LOOK_MS, () => this.#look());
    this.#look();
  }

  publish(topic: Topic, text: string): void {
    // Subscribers that miss a message find out in another way.
    this.#server.publish(NAME, JSON.stringify([this.#self, topic, text])).catch(() => {});
  }

  subscribe(topic: Topic, received: (text: string) => void): void {
    this.#listeners.set(topic, received);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
    this.#listener?.close();
  }

  #look(): void {
    if (!this.#listener?.isOpen) return void this.#open();
    const silentMs = this.#elapsed() - this.#receivedAt;
    if (silentMs > SILENT_MS) return this.#listener.close();
    if (silentMs < QUIET_MS) return;
    this.#listener.ping().then(
      () => (this.#receivedAt = this.#elapsed()),
      () => {},
    );
  }

  async #open(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    try {
      this.#listener = await this.#server.listen(NAME, (message) => this.#take(message));
      this.#receivedAt = this.#elapsed();
      if (this.#isClosed) this.#listener.close();
    } catch {
      // It is tried again with the next look; that the server is away is told by whoever counts there.
    } finally {
      this.#isOpening = false;
    }
  }

  #take(message: string): void {
    this.#receivedAt = this.#elapsed();
    const received = parsed(message);
    if (Array.isArray(received) && received[0] !== this.#self) this.#listeners.take(received[1], received[2]);
  }
}

/** Undefined for what is no JSON: others may publish under the same name. */
function parsed(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}
