// What processes of one installation tell each other, as a port: short messages to all others. Nobody counts on one: what is
// lost is not repeated, and every use has another way to find out.

/**
 * `tenants`: keys or projects are others now. `routing`: what endpoints have shown, and what was done with them.
 * `watching`: somebody wants to hear of what happens, for a while. `events`: what happens.
 */
export type Topic = 'tenants' | 'routing' | 'watching' | 'events';

export interface Bulletin {
  /** Tells all others, as far as they can be reached. Never throws, and nobody waits for it. */
  tell(topic: Topic, text: string): void;
  /** Calls back with what others tell, not with this process's own words. Each topic has one listener. */
  hear(topic: Topic, heard: (text: string) => void): void;
}

/** Hands each message to whoever hears its topic. */
export class Listeners {
  readonly #byTopic = new Map<string, (text: string) => void>();

  set(topic: Topic, heard: (text: string) => void): void {
    this.#byTopic.set(topic, heard);
  }

  /** Takes what came from elsewhere: another version may talk of what nobody here knows. */
  take(topic: unknown, text: unknown): void {
    if (typeof topic === 'string' && typeof text === 'string') this.#byTopic.get(topic)?.(text);
  }
}
