// One server of Valkey or Redis as all of its uses here see it: a connection that is made when it is needed and again when
// it broke, and scripts that are loaded where the server does not know them.
import { createHash } from 'node:crypto';
import {
  listenRedis,
  openRedis,
  type RedisAddress,
  type RedisLink,
  type RedisListener,
} from '../../base/runtime/redis.ts';

/** Begins all names: braces keep them on one server, the number is that of the data's form. */
export const PREFIX = '{dragoman}:1:';

/** A use of the server. */
export interface ServerLink {
  /** Sends a command. Rejects where the server refuses it, or cannot be reached. */
  send(command: string, args: readonly string[]): Promise<unknown>;
  /** Runs a script of ours: a whole, or not at all. One that the server did not know gets one key more. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
}

export interface Script {
  readonly text: string;
  readonly hash: string;
}

/** A script, with the name under which servers remember it. */
export function scriptOf(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

/** How long a connection may take, in milliseconds. */
const CONNECT_MS = 1000;
/** How long nobody tries again after a connection failed, in milliseconds. */
const PAUSE_MS = 200;
/** Silence after which a connection is given up on which something was asked, in milliseconds. */
const SILENT_MS = 2000;

export class ValkeyServer implements ServerLink {
  readonly #address: RedisAddress;
  readonly #elapsed: () => number;
  #link: RedisLink | null = null;
  #opening: Promise<RedisLink> | null = null;
  #failed: { readonly error: unknown; readonly at: number } | null = null;
  #isClosed = false;
  #unanswered = 0;
  #silentSince = 0;

  /** @param url `redis://`, `rediss://`, `valkey://` or `valkeys://` @param elapsed milliseconds that only go forward */
  constructor(url: string, authorities: readonly string[], elapsed: () => number) {
    this.#address = { url: plainUrl(url), authorities, connectMs: CONNECT_MS };
    this.#elapsed = elapsed;
  }

  async send(command: string, args: readonly string[]): Promise<unknown> {
    const link = await this.#open();
    if (this.#unanswered === 0) this.#silentSince = this.#elapsed();
    this.#unanswered += 1;
    try {
      return await link.send(command, args);
    } finally {
      this.#unanswered -= 1;
      this.#silentSince = this.#elapsed();
    }
  }

  async run({ text, hash }: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    try {
      return await this.send('EVALSHA', [hash, String(keys.length), ...keys, ...args]);
    } catch (error) {
      // The server is new, or was told to forget: nothing was run.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return this.send('EVAL', [text, String(keys.length + 1), ...keys, `${PREFIX}new`, ...args]);
    }
  }

  /**
   * Hears on a connection of its own what is published under a name. Rejects where the server cannot be reached.
   * @param name without the prefix; those of other databases of the same server are others
   */
  listen(name: string, listener: (message: string) => void): Promise<RedisListener> {
    return listenRedis(this.#address, this.#channel(name), listener);
  }

  /** Tells whoever listens under a name. Rejects like `send`. */
  async publish(name: string, message: string): Promise<void> {
    await this.send('PUBLISH', [this.#channel(name), message]);
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
  }

  /** Channels are those of the whole server: its databases do not divide them. */
  #channel(name: string): string {
    const database = new URL(this.#address.url).pathname.replace(/^\//, '') || '0';
    return `${PREFIX}${database}:${name}`;
  }

  async #open(): Promise<RedisLink> {
    // The other end of a silent connection may be gone without a word: another connection shows that.
    if (this.#unanswered > 0 && this.#elapsed() - this.#silentSince > SILENT_MS) this.#link?.close();
    if (this.#link?.isOpen) return this.#link;
    if (this.#isClosed) throw new Error('closed');
    if (this.#failed && this.#elapsed() - this.#failed.at < PAUSE_MS) throw this.#failed.error;
    this.#opening ??= openRedis(this.#address)
      .then(
        (link) => {
          if (this.#isClosed) link.close();
          this.#failed = null;
          this.#link = link;
          return link;
        },
        (error: unknown) => {
          this.#failed = { error, at: this.#elapsed() };
          throw error;
        },
      )
      .finally(() => (this.#opening = null));
    return this.#opening;
  }
}

/** Whether an address is one of those that are understood. */
export function isServerUrl(url: string): boolean {
  return /^(?:redis|valkey)s?:\/\//i.test(url) && URL.canParse(url);
}

/** The two names of the protocol have one meaning each. */
function plainUrl(url: string): string {
  return url.replace(/^valkeys:/i, 'rediss:').replace(/^valkey:/i, 'redis:');
}
