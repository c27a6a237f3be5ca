// Signs messages between processes of one installation, because others may publish on the same server.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Storage } from '../../accounts/ports/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Purpose of the signing secret. */
const PURPOSE = 'messages between processes';
/** Maximum overhead of a signed message in bytes: signature, sender, number and topic. */
export const SIGNATURE_BYTES = 160;

/** Maximum number of remembered senders. The least recent one is evicted. */
const MOST_SENDERS = 1_000;
/** Signature, sender, number, topic, text. */
const SIGNED = /^(\S{43}) ((\S{1,64}) (\d{1,16}) (\S{1,16}) (.*))$/s;

/** Secrets of the installation for messages, newest first. */
export async function messageSecrets(
  storage: Pick<Storage, 'secret' | 'earlierSecrets'>,
): Promise<readonly Uint8Array[]> {
  return [await storage.secret(PURPOSE), ...(await storage.earlierSecrets(PURPOSE))];
}

export interface MessageSignatureOptions {
  /** Unique name of this process, without white space. */
  readonly self: string;
  /** Secrets of the installation. The first one signs, all are accepted. */
  readonly secrets: readonly Uint8Array[];
  /** Milliseconds, from which message numbers start. */
  readonly now: () => UnixMs;
}

export class MessageSignature {
  readonly #options: MessageSignatureOptions;
  #count: number;
  /** Number of the last message by sender, to reject replayed messages. */
  readonly #last = new Map<string, number>();

  constructor(options: MessageSignatureOptions) {
    this.#options = options;
    this.#count = Math.floor(options.now());
  }

  /** Creates a signed message. */
  sign(topic: string, text: string): string {
    const { self, secrets } = this.#options;
    this.#count += 1;
    const content = `${self} ${this.#count} ${topic} ${text}`;
    const [secret] = secrets;
    if (!secret) throw new TypeError('no secret is configured to sign messages');
    return `${signatureOf(content, secret)} ${content}`;
  }

  /**
   * Text of a message. Null if it is not signed by this installation, replayed, about another topic, or from this process.
   */
  open(topic: string, message: string): string | null {
    const [, signature = '', content = '', sender = '', digits, about, text = ''] =
      SIGNED.exec(message) ?? [];
    if (about !== topic || sender === this.#options.self) return null;
    if (!this.#options.secrets.some((secret) => isSame(signature, signatureOf(content, secret)))) return null;
    const number = Number(digits);
    if (number <= (this.#last.get(sender) ?? 0)) return null;
    this.#last.delete(sender);
    const [oldest] = this.#last.keys();
    if (this.#last.size >= MOST_SENDERS && oldest !== undefined) this.#last.delete(oldest);
    this.#last.set(sender, number);
    return text;
  }
}

function signatureOf(content: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(content).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
