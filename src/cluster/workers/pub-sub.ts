// Pub/sub between workers without Valkey or Redis: the supervisor forwards each message to all others.
import { type PubSub, Listeners, type Topic } from '../exchange/index.ts';
import type { Channel } from './channel.ts';

/** Call of a worker to the supervisor: publish a message. */
export const PUBLISH = 'publish';
/** Call of the supervisor to the other workers: a message was published. */
export const PUBLISHED = 'published';

export class SupervisorPubSub implements PubSub {
  readonly #channel: Channel;
  readonly #listeners = new Listeners();

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.answer(PUBLISHED, (message) => {
      if (Array.isArray(message)) this.#listeners.take(message[0], message[1]);
    });
  }

  publish(topic: Topic, text: string): void {
    void this.publishCounted(topic, text);
  }

  async publishCounted(topic: Topic, text: string): Promise<number | null> {
    try {
      return Number(await this.#channel.ask(PUBLISH, [topic, text]));
    } catch {
      // The worker ends without its supervisor.
      return null;
    }
  }

  subscribe(topic: Topic, received: (text: string) => void): void {
    this.#listeners.set(topic, received);
  }
}
