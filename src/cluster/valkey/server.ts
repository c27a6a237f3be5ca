// Connection to Valkey or Redis for all of its uses. Opened on demand and reopened after a failure. Scripts are loaded if
// the server does not know them.
import { createHash } from 'node:crypto';
import {
  listenRedis,
  openRedis,
  type RedisAddress,
  type RedisLink,
  type RedisListener,
} from '../../base/runtime/redis.ts';

/** Prefix of all names. The braces keep them on one cluster node; the number is the version of the data format. */
export const PREFIX = '{dragoman}:1:';

/** Interface for users of the server. */
export interface ServerLink {
  /** Sends a command. Rejects if the server refuses it or is unreachable. */
  send(command: string, args: readonly string[]): Promise<unknown>;
  /** Runs a script atomically. A script that the server did not know gets one additional key. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
}

export interface Script {
  readonly text: string;
  readonly hash: string;
}

/** A script with its hash. */
export function scriptOf(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}

/** Timeout for connecting, in milliseconds. */
const CONNECT_MS = 1000;
/** Milliseconds between a failed connection and the next attempt. */
const PAUSE_MS = 200;
/** Milliseconds without a response after which a connection with pending commands is closed. */
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

  /** @param url `redis://`, `rediss://`, `valkey://` or `valkeys://` @param elapsed monotonic milliseconds */
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
      // The server is new or its scripts were flushed. Nothing was run.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return this.send('EVAL', [text, String(keys.length + 1), ...keys, `${PREFIX}new`, ...args]);
    }
  }

  /**
   * Subscribes to a channel on a separate connection. Rejects if the server is unreachable.
   * @param name without the prefix; the database number becomes part of the channel
   */
  listen(name: string, listener: (message: string) => void): Promise<RedisListener> {
    return listenRedis(this.#address, this.#channel(name), listener);
  }

  /** Publishes to a channel. Rejects as `send`. @returns number of subscribers that receive it */
  async publish(name: string, message: string): Promise<number> {
    return Number(await this.send('PUBLISH', [this.#channel(name), message]));
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
  }

  /** Name of a channel. Channels are global to the server, so the database number is included. */
  #channel(name: string): string {
    const database = new URL(this.#address.url).pathname.replace(/^\//, '') || '0';
    return `${PREFIX}${database}:${name}`;
  }

  async #open(): Promise<RedisLink> {
    // A silent connection may be broken without an event, so a new one is opened.
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

/** True for a supported URL: a host, and at most the number of a database. */
export function isServerUrl(url: string): boolean {
  const parsed = /^(?:redis|valkey)s?:\/\//i.test(url) ? URL.parse(url) : null;
  return parsed !== null && parsed.hostname !== '' && /^(?:\/\d*)?$/.test(parsed.pathname);
}

/** Replaces `valkey:` by `redis:`. */
function plainUrl(url: string): string {
  return url.replace(/^valkeys:/i, 'rediss:').replace(/^valkey:/i, 'redis:');
}
