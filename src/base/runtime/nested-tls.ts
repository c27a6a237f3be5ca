// TLS inside a TLS connection, for a host behind a proxy that is itself reached over TLS. Bun's sockets cannot do that, so
// this uses Node's streams.
import { isIP } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { ClientSocket, SocketListener } from './socket.ts';

/** Bytes that are buffered in the inner connection before its writer has to pause. */
const HIGH_WATER = 256 * 1024;
const NO_BYTES = new Uint8Array(0);

export interface NestedOptions extends Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'> {
  /** Server name; the certificate must be valid for it. */
  readonly host: string;
}

export class NestedTls implements ClientSocket {
  /** Listener for the events of the outer connection. */
  readonly outer: SocketListener;
  readonly #socket: ClientSocket;
  readonly #listener: SocketListener;
  readonly #inner: TLSSocket;
  #open = false;
  #done = false;

  /** Starts the handshake. The listener's `open` is called once the host is verified. */
  constructor(socket: ClientSocket, options: NestedOptions, listener: SocketListener) {
    this.#socket = socket;
    this.#listener = listener;
    const carrier = new Carrier(socket);
    this.outer = {
      open: () => {},
      data: (bytes) => carrier.receive(bytes),
      drain: () => carrier.flush(),
      closed: (reason) => {
        this.#close(reason);
        this.#inner.destroy();
        carrier.destroy();
      },
    };
    const { host, ...security } = options;
    // An address is no name that could be asked for (RFC 6066 section 3).
    const name = isIP(host) ? {} : { servername: host };
    this.#inner = connect({ ...security, ...name, socket: carrier, host });
    this.#inner.on('secureConnect', () => {
      if (this.#done) return;
      this.#open = true;
      listener.open(this);
    });
    this.#inner.on('data', (bytes: Buffer) => {
      if (!this.#done) listener.data(bytes);
    });
    this.#inner.on('drain', () => {
      if (!this.#done) listener.drain();
    });
    this.#inner.on('error', (error: Error) =>
      this.#fail(this.#open ? error.message : `TLS: ${error.message}`),
    );
    this.#inner.on('end', () => this.#fail(undefined));
    this.#inner.on('close', () => this.#fail(undefined));
  }

  write(bytes: Uint8Array): number {
    if (this.#done) return -1;
    if (this.#inner.writableLength >= HIGH_WATER) return 0;
    // A copy, for it is sent later.
    const piece = bytes.slice(0, HIGH_WATER);
    this.#inner.write(piece);
    return piece.length;
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  terminate(): void {
    this.#inner.destroy();
    this.#socket.terminate();
  }

  secure(): void {
    throw new TypeError('a third layer of TLS');
  }

  #fail(reason: string | undefined): void {
    this.#close(reason);
    this.#socket.terminate();
  }

  #close(reason: string | undefined): void {
    if (this.#done) return;
    this.#done = true;
    this.#listener.closed(reason);
  }
}

/** The outer connection as the stream that Node's TLS takes. */
class Carrier extends Duplex {
  readonly #socket: ClientSocket;
  #unsent: Uint8Array = NO_BYTES;
  #sent: (() => void) | undefined;

  constructor(socket: ClientSocket) {
    super();
    this.#socket = socket;
  }

  receive(bytes: Buffer): void {
    if (!this.destroyed && !this.push(bytes)) this.#socket.pause();
  }

  flush(): void {
    if (this.#unsent.length > 0) {
      const taken = this.#socket.write(this.#unsent);
      if (taken > 0) this.#unsent = this.#unsent.subarray(taken);
    }
    if (this.#unsent.length > 0) return;
    const sent = this.#sent;
    this.#sent = undefined;
    sent?.();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: string, sent: () => void): void {
    this.#unsent = bytes;
    this.#sent = sent;
    this.flush();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#sent = undefined;
    done(error);
  }
}
