// A WebSocket client that reads slower than its model writes: the upstream waits, as it does for a slow stream.
import { expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { CHAT_ENDING, CHAT_OPENING, chatChunk } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';

const CHUNK = chatChunk({ content: 'x'.repeat(10_000) });
/** Far more than the sockets on the way can hold. */
const COUNT = 2_500;
const SIZE = CHUNK.length * COUNT;

test('a WebSocket that is not read pauses the upstream', async () => {
  await using scene = await startScene(['up']);
  const up = scene.upstream('up');
  up.always((exchange) => {
    exchange.openStream();
    exchange.chunk(CHAT_OPENING);
    for (let sent = 0; sent < COUNT; sent++) exchange.chunk(CHUNK);
    exchange.chunk(CHAT_ENDING);
    exchange.endStream();
  });
  const slow = await RawSocket.open(scene.gateway.origin);
  slow.socket.pause();
  slow.create('slow');
  await up.arrived(1);
  // Another client reads as much at full speed: by then the gateway could have swallowed all of the first answer.
  const quick = new RawClient(scene.gateway.origin, {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'quick' }],
    stream: true,
  });
  await quick.until('data: [DONE]');
  expect(up.exchanges[0]?.unsentBytes).toBeGreaterThan(SIZE / 2);

  slow.socket.resume();
  await slow.until('"response.output_text.done"');
  expect(slow.received).toBeGreaterThan(SIZE * 0.9);
  expect(up.exchanges[0]?.unsentBytes).toBe(0);
  slow.socket.destroy();
  quick.close();
});

/** A connection that reads when it is told to. */
class RawSocket {
  received = 0;
  readonly socket: Socket;
  #text = '';
  #check = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.length;
      // Enough to find a mark in, wherever it was cut.
      this.#text = this.#text.slice(-64) + bytes.toString('latin1');
      this.#check();
    });
  }

  static async open(origin: string): Promise<RawSocket> {
    const { hostname, port } = new URL(origin);
    const raw = new RawSocket(connect(Number(port), hostname));
    raw.socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer sk-test\r\n` +
        'upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n' +
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await raw.until('\r\n\r\n');
    return raw;
  }

  create(input: string): void {
    const message = JSON.stringify({ type: 'response.create', model: 'one/chat', store: false, input });
    // A final text frame of up to 125 bytes, masked with zeros (RFC 6455, section 5.2).
    this.socket.write(
      Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), Buffer.from(message)]),
    );
  }

  until(part: string): Promise<void> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.#text.includes(part)) resolve();
      };
      this.#check();
    });
  }
}
