// Connections to Valkey and Redis by the runtime's own client. One is given up at the first sign of trouble and made anew by
// whoever needs it: what was asked on a connection that broke is not repeated by itself.
import { RedisClient } from 'bun';
import type { DurationMs } from '../units.ts';

export interface RedisAddress {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  /** Certificates in PEM that are trusted besides the usual ones; empty: none. */
  readonly authorities: readonly string[];
  readonly connectMs: DurationMs;
}

interface Connection {
  /** False once the connection is gone. */
  readonly isOpen: boolean;
  close(): void;
}

export interface RedisLink extends Connection {
  /** Sends a command; rejects where the server refuses it or the connection breaks. */
  send(command: string, args: readonly string[]): Promise<unknown>;
}

/** A connection on which messages are heard, and nothing is asked. */
export interface RedisListener extends Connection {
  /** Rejects where the connection breaks: some are gone without a word. */
  ping(): Promise<void>;
}

/** Connects. Rejects where that is not possible in time. */
export async function openRedis(address: RedisAddress): Promise<RedisLink> {
  const { client, connection } = await connect(address);
  return Object.assign(connection, {
    send: (command: string, args: readonly string[]) => client.send(command, [...args]),
  });
}

/** Connects, and hears what is published on a channel from now on. Rejects where that is not possible in time. */
export async function listenRedis(
  address: RedisAddress,
  channel: string,
  listener: (message: string) => void,
): Promise<RedisListener> {
  const { client, connection } = await connect(address);
  await client.subscribe(channel, (message) => listener(message));
  return Object.assign(connection, {
    ping: async () => void (await client.ping()),
  });
}

async function connect({ url, authorities, connectMs }: RedisAddress): Promise<{
  readonly client: RedisClient;
  readonly connection: Connection;
}> {
  const isSecure = url.startsWith('rediss:');
  const client = new RedisClient(url, {
    autoReconnect: false,
    enableOfflineQueue: false,
    connectionTimeout: connectMs,
    ...(isSecure && authorities.length > 0 ? { tls: { ca: [...authorities] } } : {}),
  });
  let isClosed = false;
  await client.connect();
  const connection = {
    get isOpen() {
      return !isClosed && client.connected;
    },
    close() {
      isClosed = true;
      client.close();
    },
  };
  return { client, connection };
}
