// What workers tell each other, where no server of Valkey or Redis carries it: the supervisor passes it on to all others.
import { type Bulletin, Listeners, type Topic } from '../exchange/index.ts';
import type { Channel } from './channel.ts';

/** What a worker asks of its supervisor. */
export const TELL_OTHERS = 'tell others';
/** What the supervisor asks of the others then. */
export const TOLD = 'told';

export class SupervisorBulletin implements Bulletin {
  readonly #channel: Channel;
  readonly #listeners = new Listeners();

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.answer(TOLD, (message) => {
      if (Array.isArray(message)) this.#listeners.take(message[0], message[1]);
    });
  }

  tell(topic: Topic, text: string): void {
    // Without a supervisor this worker ends.
    this.#channel.ask(TELL_OTHERS, [topic, text]).catch(() => {});
  }

  hear(topic: Topic, heard: (text: string) => void): void {
    this.#listeners.set(topic, heard);
  }
}
