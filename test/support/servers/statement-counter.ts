// Stands between a program and a PostgreSQL server, and notes every statement that goes through. Knows of the protocol how
// messages are framed, and which of them ask something (PostgreSQL 16, 55.7 Message Formats, 2026-11).
import { createConnection, createServer, type Socket } from 'node:net';

export interface StatementCounter {
  /** The address of the server, through here. */
  readonly url: string;
  /** Statements in their order: each is one way to the server and back. */
  readonly statements: readonly string[];
  /** Forgets what was noted. */
  clear(): void;
  stop(): Promise<void>;
}

/** @param url of the server */
export async function countStatements(url: string): Promise<StatementCounter> {
  const to = new URL(url);
  const [host, port] = [to.hostname, Number(to.port)];
  const statements: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection({ host, port });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
      socket.on('error', () => {});
    }
    const note = reader((statement) => void statements.push(statement));
    client.on('data', (bytes: Buffer) => {
      note(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => void client.write(bytes));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  to.port = String(typeof address === 'object' && address ? address.port : 0);
  return {
    url: to.href,
    statements,
    clear: () => void statements.splice(0),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Reads what a client says: a first message without a type, then each with a type and its length. */
function reader(send: (statement: string) => void): (bytes: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0);
  let hasBegun = false;
  return (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
      const head = hasBegun ? 1 : 0;
      if (waiting.length < head + 4) return;
      const end = head + waiting.readUInt32BE(head);
      if (waiting.length < end) return;
      const type = hasBegun ? String.fromCharCode(waiting[0] ?? 0) : '';
      const text = waiting.subarray(5, end).toString();
      // A simple question is its text; of the others, what is parsed begins with the name of the statement, which is empty.
      if (type === 'Q') send(text.slice(0, -1));
      if (type === 'P') send(text.slice(text.indexOf('\0') + 1, text.indexOf('\0', text.indexOf('\0') + 1)));
      hasBegun = true;
      waiting = waiting.subarray(end);
    }
  };
}
