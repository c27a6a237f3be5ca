// Connection through a proxy: CONNECT (RFC 9110 section 9.3.6), and TLS inside with the host. The proxy is not trusted:
// it sees the target, and can only interrupt the connection. Users of the tunnel see a normal socket.
import {
  connectSocket,
  type ClientSocket,
  type Security,
  type SocketListener,
  type SocketTarget,
} from '../base/runtime/socket.ts';
import { ResponseParser, type ResponseEvents, type ResponseHead } from './response-parser.ts';
import type { Proxy } from './network-route.ts';

/** A proxy, and the authorities trusted for TLS with it. */
export interface TunnelProxy {
  readonly proxy: Proxy;
  readonly security: Security | undefined;
}

/** Socket target of a connection to a proxy. */
export function proxyTarget({ proxy, security }: TunnelProxy): SocketTarget {
  const { host, port, tls } = proxy;
  return { host, port, tls, security };
}

/**
 * Connects to a target through a proxy. The listener gets the same events as for a direct socket.
 * @returns a function that cancels the attempt
 */
export function connectThrough(via: TunnelProxy, target: SocketTarget, listener: SocketListener): () => void {
  return connectSocket(proxyTarget(via), new Tunnel(via.proxy, target, listener));
}

/** Error message for a refusal. The proxy is not named, because clients may read the message. */
export function refusalWords({ authorization }: Proxy, status: number): string {
  // Some proxies respond with 401 (tinyproxy 1.11).
  if (status !== 407 && status !== 401) return `its proxy refused the connection (status ${status})`;
  return authorization === null
    ? `its proxy requires a user name and a password (status ${status})`
    : `its proxy rejected the configured user name and password (status ${status})`;
}

class Tunnel implements SocketListener, ResponseEvents {
  readonly #proxy: Proxy;
  readonly #target: SocketTarget;
  readonly #listener: SocketListener;
  readonly #parser = new ResponseParser(this, true);
  #socket: ClientSocket | undefined;
  #unsent: Uint8Array;
  #status = 0;
  /** True: the tunnel is established, and bytes belong to its user. */
  #open = false;
  #problem: string | undefined;

  constructor(proxy: Proxy, target: SocketTarget, listener: SocketListener) {
    this.#proxy = proxy;
    this.#target = target;
    this.#listener = listener;
    const { host, address = host, port } = target;
    const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    const proof = proxy.authorization;
    this.#unsent = Buffer.from(
      `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n` +
        `${proof ? `proxy-authorization: ${proof.reveal()}\r\n` : ''}\r\n`,
      'latin1',
    );
  }

  open(socket: ClientSocket): void {
    this.#socket = socket;
    this.drain();
  }

  drain(): void {
    if (this.#open) return this.#listener.drain();
    if (this.#unsent.length === 0) return;
    const taken = this.#socket?.write(this.#unsent) ?? 0;
    if (taken > 0) this.#unsent = this.#unsent.subarray(taken);
  }

  data(bytes: Buffer): void {
    if (this.#open) return this.#listener.data(bytes);
    if (this.#problem !== undefined) return;
    try {
      this.#parser.push(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#fail(`its proxy violated the HTTP protocol (${error.message})`);
    }
    if (this.#status >= 200 && this.#status < 300 && this.#problem === undefined) this.#begin();
  }

  closed(reason: string | undefined): void {
    if (this.#open) return this.#listener.closed(reason);
    if (this.#problem !== undefined) return this.#listener.closed(this.#problem);
    const words = this.#socket
      ? 'its proxy closed the connection without a response'
      : 'its proxy could not be reached';
    this.#listener.closed(reason === undefined ? words : `${words} (${reason})`);
  }

  // Parser events.

  head({ status }: ResponseHead): void {
    this.#status = status;
    if (status >= 300) this.#fail(refusalWords(this.#proxy, status));
  }

  body(): void {
    // The target has not received anything yet, so these bytes are from the proxy.
    this.#fail('its proxy sent bytes before the tunnel was used');
  }

  end(): void {}

  #begin(): void {
    const socket = this.#socket;
    if (!socket) return;
    this.#open = true;
    if (this.#target.tls) socket.secure(this.#target, this.#listener);
    else this.#listener.open(socket);
  }

  /** The first problem is reported when the connection is closed. */
  #fail(problem: string): void {
    this.#problem ??= problem;
    this.#socket?.terminate();
  }
}
