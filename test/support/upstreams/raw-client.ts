// A chat client on a bare socket: reads when it wants to, and in any number (this runtime's own queues after 256
// requests).
import { connect, type Socket } from 'node:net';

export class RawClient {
  /** Bytes received. */
  received = 0;
  readonly #socket: Socket;
  /** The end of what was received; enough to find a mark in. */
  #tail = '';
  #check: () => void = () => {};

  /** Sends a request. @param body of `POST /chat/completions` */
  constructor(origin: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    const { hostname, port } = new URL(origin);
    const json = JSON.stringify(body);
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('data', (bytes: Buffer) => {
      this.received += bytes.length;
      this.#tail = (this.#tail + bytes.toString('latin1')).slice(-4096);
      this.#check();
    });
    this.#socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer sk-test\r\n` +
        `content-type: application/json\r\ncontent-length: ${json.length}\r\n${more.join('')}\r\n${json}`,
    );
  }

  /** Settles when this has arrived; at once if it was among the last bytes. */
  until(part: string): Promise<void> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.#tail.includes(part)) resolve();
      };
      this.#check();
    });
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }
}
