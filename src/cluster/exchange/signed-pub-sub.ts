// Wraps a `PubSub` so that all messages are signed.
import type { PubSub, Topic } from './pub-sub.ts';
import { MessageSignature, type MessageSignatureOptions } from './message-signature.ts';

export class SignedPubSub implements PubSub {
  readonly #inner: PubSub;
  readonly #signature: MessageSignature;

  constructor(inner: PubSub, options: MessageSignatureOptions) {
    this.#inner = inner;
    this.#signature = new MessageSignature(options);
  }

  publish(topic: Topic, text: string): void {
    void this.publishCounted(topic, text);
  }

  publishCounted(topic: Topic, text: string): Promise<number | null> {
    return this.#inner.publishCounted(topic, this.#signature.sign(topic, text));
  }

  subscribe(topic: Topic, received: (text: string) => void): void {
    this.#inner.subscribe(topic, (message) => {
      const text = this.#signature.open(topic, message);
      if (text !== null) received(text);
    });
  }
}
