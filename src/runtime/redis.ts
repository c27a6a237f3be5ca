// Connections to Valkey and Redis by the runtime's own client. It is given up at the first sign of trouble and made anew
// by whoever needs it: what was asked on a connection that broke is not repeated by itself.
import { RedisClient } from 'bun';

export interface RedisAddress {
  /** `redis://` or `rediss://`. */
  readonly url: string;
  /** Certificates in PEM that are trusted besides the usual ones; empty: none. */
  readonly authorities: readonly string[];
  readonly connectMs: number;
}

export interface RedisLink {
  /** False once the connection is gone. */
  readonly isOpen: boolean;
  /** Sends a command; rejects where the server refuses it or the connection breaks. */
  send(command: string, args: readonly string[]): Promise<unknown>;
  close(): void;
}

/** Connects. Rejects where that is not possible in time. */
export async function openRedis({ url, authorities, connectMs }: RedisAddress): Promise<RedisLink> {
  const isSecure = url.startsWith('rediss:');
  const client = new RedisClient(url, {
    autoReconnect: false,
    enableOfflineQueue: false,
    connectionTimeout: connectMs,
    ...(isSecure && authorities.length > 0 ? { tls: { ca: [...authorities] } } : {}),
  });
  let isClosed = false;
  await client.connect();
  return {
    get isOpen() {
      return !isClosed && client.connected;
    },
    send: (command, args) => client.send(command, [...args]),
    close() {
      isClosed = true;
      client.close();
    },
  };
}
