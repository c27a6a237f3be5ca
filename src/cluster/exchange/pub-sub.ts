// `PubSub`: port for short messages from one process of an installation to all others. Messages may be lost, so that every
// use also works without them.

/**
 * `tenants`: keys or projects changed. `routing`: measurements and state changes of endpoints. `watching`: a process has
 * subscribers. `events`: events. `streams`: owners of kept streams, and requests for them.
 */
export type Topic = 'tenants' | 'routing' | 'watching' | 'events' | 'streams';

export interface PubSub {
  /** Publishes to all other reachable processes. Never throws, and returns immediately. */
  publish(topic: Topic, text: string): void;
  /** Publishes, and resolves to the number of other processes that are reached; null: unknown. Never rejects. */
  publishCounted(topic: Topic, text: string): Promise<number | null>;
  /** Subscribes to messages of other processes. Each topic has one listener. */
  subscribe(topic: Topic, received: (text: string) => void): void;
}

/** Passes messages to the listeners of their topics. */
export class Listeners {
  readonly #byTopic = new Map<string, (text: string) => void>();

  set(topic: Topic, received: (text: string) => void): void {
    this.#byTopic.set(topic, received);
  }

  /** Takes a received message. Unknown topics, as of other versions, are ignored. */
  take(topic: unknown, text: unknown): void {
    if (typeof topic === 'string' && typeof text === 'string') this.#byTopic.get(topic)?.(text);
  }
}
