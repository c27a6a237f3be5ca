// Pub/sub through Valkey or Redis. The subscription has its own connection, which is reopened if it breaks. Messages in
// between are lost.
import { type PubSub, Listeners, type Topic } from '../exchange/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { RedisListener } from '../../base/runtime/redis.ts';
import type { ValkeyServer } from './server.ts';

/** Name of the channel. Other versions of the program use it, too. */
const NAME = 'told';
/** Milliseconds between two checks of the connection. */
const LOOK_MS = 1000;
/** Milliseconds without a message after which a ping is sent. With several processes, which publish every two seconds, pings
 * are rare. */
const QUIET_MS = 1500;
/** Milliseconds without a message after which the connection counts as broken. */
const SILENT_MS = 4500;

export class ValkeyPubSub implements PubSub {
  readonly #server: Pick<ValkeyServer, 'listen' | 'publish'>;
  readonly #self: string;
  readonly #elapsed: () => number;
  readonly #listeners = new Listeners();
  readonly #stopLooking: () => void;
  #listener: RedisListener | null = null;
  #isOpening = false;
  /** Time of the last message from the server, by `elapsed`. */
  #receivedAt = 0;
  #isClosed = false;

  /** @param self unique name of this process @param elapsed monotonic milliseconds */
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
    void this.publishCounted(topic, text);
  }

  async publishCounted(topic: Topic, text: string): Promise<number | null> {
    try {
      const receivers = await this.#server.publish(NAME, JSON.stringify([this.#self, topic, text]));
      // This process is one of them.
      return receivers - (this.#listener?.isOpen ? 1 : 0);
    } catch {
      // Subscribers also work if they miss a message.
      return null;
    }
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
      // The next check tries again. The shared counters report the outage.
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

/** Parsed message; undefined if it is not JSON, because others may publish on the same channel. */
function parsed(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}
