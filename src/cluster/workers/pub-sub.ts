// Pub/sub between workers where no server of Valkey or Redis carries it: the supervisor passes each message on to all others.
import { type PubSub, Listeners, type Topic } from '../exchange/index.ts';
import type { Channel } from './channel.ts';

/** The question of a worker to its supervisor: publish this. */
export const PUBLISH = 'publish';
/** The question of the supervisor to the others then: this was published. */
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
    // A worker without a supervisor ends.
    this.#channel.ask(PUBLISH, [topic, text]).catch(() => {});
  }

  subscribe(topic: Topic, received: (text: string) => void): void {
    this.#listeners.set(topic, received);
  }
}
