// `PubSub`: short messages from one process of an installation to all others, as a port. A lost message is not repeated, so every
// use has another way to find out.

/**
 * `tenants`: keys or projects are others now. `routing`: what endpoints have shown, and what was done with them.
 * `watching`: somebody wants events, for a while. `events`: what happens. `streams`: who keeps a stream, and who wants it.
 */
export type Topic = 'tenants' | 'routing' | 'watching' | 'events' | 'streams';

export interface PubSub {
  /** Publishes to all others, as far as they can be reached. Never throws, and nobody waits for it. */
  publish(topic: Topic, text: string): void;
  /** Calls back with what others publish, not with this process's own messages. Each topic has one listener. */
  subscribe(topic: Topic, received: (text: string) => void): void;
}

/** Hands each message to the listener of its topic. */
export class Listeners {
  readonly #byTopic = new Map<string, (text: string) => void>();

  set(topic: Topic, received: (text: string) => void): void {
    this.#byTopic.set(topic, received);
  }

  /** Takes what came from elsewhere: another version may talk of what nobody here knows. */
  take(topic: unknown, text: unknown): void {
    if (typeof topic === 'string' && typeof text === 'string') this.#byTopic.get(topic)?.(text);
  }
}
