// Pub/sub of processes, in one process and at once.
import { type PubSub, Listeners, type Topic } from '../../../src/cluster/exchange/index.ts';

/** Hands each message to all others, and notes it. */
export class Board {
  readonly reported: { readonly topic: Topic; readonly text: string }[] = [];
  readonly #all: Listeners[] = [];

  member(): PubSub {
    const own = new Listeners();
    this.#all.push(own);
    const publish: PubSub['publish'] = (topic, text) => {
      this.reported.push({ topic, text });
      for (const each of this.#all) if (each !== own) each.take(topic, text);
    };
    return {
      publish,
      publishCounted: async (topic, text) => {
        publish(topic, text);
        return this.#all.length - 1;
      },
      subscribe: (topic, received) => own.set(topic, received),
    };
  }
}
