// A server that poses as the database, and addresses of databases that would speak to it in clear.
import { createServer } from 'node:net';
import { afterAll, expect, test } from 'bun:test';
import { openPool } from '../../src/storage/postgres/pool.ts';

/** Length and code with which a client asks for TLS (PostgreSQL 16, "Message Formats", SSLRequest). */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
const received: Buffer[] = [];
let port = 0;

// Has no TLS, as it says, and takes what comes.
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const bytes = Buffer.from(data as Buffer);
    received.push(bytes);
    if (bytes.equals(SSL_REQUEST)) socket.write('N');
    else socket.destroy();
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
port = typeof address === 'object' && address ? address.port : 0;
afterAll(() => void server.close());

async function connect(query: string): Promise<string> {
  received.length = 0;
  try {
    const url = `postgres://dragoman:test-password@127.0.0.1:${port}/db${query}`;
    const pool = openPool({ url, max: 1, statementMs: 0, connectMs: 2000 });
    await pool.connect();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'connected';
}

test.each(['require', 'verify-ca', 'verify-full', 'prefer'])(
  'sslmode=%s sends nothing unencrypted',
  async (mode) => {
    expect(await connect(`?sslmode=${mode}`)).not.toBe('connected');
    expect(received).toEqual([SSL_REQUEST]);
  },
);

test.each([
  ['?ssl_mode=verify-full', 'ssl_mode'],
  ['?SSLMODE=verify-full', 'SSLMODE'],
  ['?sslmode=verify_full', 'sslmode'],
  ['?sslroot=/ca.pem', 'sslroot'],
])('an address with %s is refused, and nothing is sent', async (query, name) => {
  const message = await connect(query);
  expect(message).toContain(`\`${name}\``);
  expect(message).not.toContain('test-password');
  expect(received).toEqual([]);
});
