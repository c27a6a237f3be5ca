// Connections to Valkey and Redis with Bun's client. A connection is abandoned at its first error, and its user opens a new
// one. Commands are never repeated automatically.
import { RedisClient } from 'bun';
import type { DurationMs } from '../units.ts';

export interface RedisAddress {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  /** Certificates in PEM that are trusted in addition to the usual ones. */
  readonly authorities: readonly string[];
  readonly connectMs: DurationMs;
}

interface Connection {
  /** False once the connection is gone. */
  readonly isOpen: boolean;
  close(): void;
}

export interface RedisLink extends Connection {
  /** Sends a command. Rejects if the server refuses it or the connection breaks. */
  send(command: string, args: readonly string[]): Promise<unknown>;
}

/** A connection that only receives published messages. */
export interface RedisListener extends Connection {
  /** Rejects if the connection is broken. Some break without an event. */
  ping(): Promise<void>;
}

/** Connects. Rejects after a timeout. */
export async function openRedis(address: RedisAddress): Promise<RedisLink> {
  const { client, connection } = await connect(address);
  return Object.assign(connection, {
    send: (command: string, args: readonly string[]) => client.send(command, [...args]),
  });
}

/** Connects and subscribes to a channel. Rejects after a timeout. */
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
