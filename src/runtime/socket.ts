// Outgoing TCP and TLS connections. The only file that knows how this runtime makes them.
// Bytes travel as byte strings: each character code is one byte. That keeps slices free and lengths exact, and
// lets an ASCII stream be read as text without decoding.
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

export interface SocketListener {
  open(socket: ClientSocket): void;
  /** One call per read. */
  data(bytes: string): void;
  /** The send buffer has room again. */
  drain(): void;
  /** Called exactly once, also when the connection could not be made; `reason` says why if it was not a plain close. */
  closed(reason: string | undefined): void;
}

export interface ClientSocket {
  /** Sends what fits into the kernel's buffer; returns the number of bytes taken, -1 when the socket is closed. */
  write(bytes: string): number;
  pause(): void;
  resume(): void;
  /** Closes after this many idle seconds; 0 never. */
  idleTimeout(seconds: number): void;
  /** Closes at once. */
  terminate(): void;
}

export interface SocketTarget {
  readonly host: string;
  /** Where to connect, if not wherever the host's name leads: certificates are still checked for the host. */
  readonly address?: string | undefined;
  readonly port: number;
  readonly tls: boolean;
  /** PEM certificates trusted besides the system's; for private upstreams. */
  readonly ca?: string | undefined;
}

/**
 * Connects to a host. TLS connections open only after the certificate chain and the host name were verified.
 * @returns a function that abandons the attempt
 */
export function connectSocket(target: SocketTarget, listener: SocketListener): () => void {
  const connection = new OutgoingConnection(target, listener);
  const { host, address, port, tls, ca } = target;
  Bun.connect<OutgoingConnection>({
    hostname: address ?? host,
    port,
    ...(tls ? { tls: { serverName: host, rejectUnauthorized: true, ...(ca ? { ca } : {}) } } : {}),
    data: connection,
    socket: HANDLERS,
  }).catch((failure: unknown) =>
    connection.close(failure instanceof Error ? failure.message : String(failure)),
  );
  return () => connection.abandon();
}

type RawSocket = Bun.Socket<OutgoingConnection>;

class OutgoingConnection implements ClientSocket {
  readonly #target: SocketTarget;
  readonly #listener: SocketListener;
  #raw: RawSocket | undefined;
  #done = false;

  constructor(target: SocketTarget, listener: SocketListener) {
    this.#target = target;
    this.#listener = listener;
  }

  write(bytes: string): number {
    return this.#raw ? (this.#raw as unknown as EncodedWriter).write(bytes, 'latin1') : -1;
  }

  pause(): void {
    this.#raw?.pause();
  }

  resume(): void {
    this.#raw?.resume();
  }

  idleTimeout(seconds: number): void {
    this.#raw?.timeout(seconds);
  }

  terminate(): void {
    this.#raw?.terminate();
  }

  abandon(): void {
    this.close('abandoned');
    this.terminate();
  }

  connected(raw: RawSocket): void {
    if (this.#done) {
      raw.terminate();
      return;
    }
    this.#raw = raw;
    if (!this.#target.tls) this.#ready(raw);
  }

  /** @param failure what the runtime found wrong with the certificate chain */
  secured(raw: RawSocket, authorized: boolean, failure: Error | null | undefined): void {
    if (this.#done || !this.#target.tls) return;
    const unverified = authorized ? undefined : 'the certificate could not be verified';
    const problem = failure?.message ?? unverified ?? identityProblem(this.#target.host, raw);
    if (problem === undefined) return this.#ready(raw);
    this.close(`TLS: ${problem}`);
    raw.terminate();
  }

  data(bytes: Buffer): void {
    if (!this.#done) this.#listener.data(bytes.toString('latin1'));
  }

  drain(): void {
    if (!this.#done) this.#listener.drain();
  }

  close(reason: string | undefined): void {
    if (this.#done) return;
    this.#done = true;
    this.#listener.closed(reason);
  }

  #ready(raw: RawSocket): void {
    raw.setNoDelay(true);
    this.#listener.open(this);
  }
}

/** One set for all connections: a thousand streams need no thousand sets. */
const HANDLERS: Bun.SocketHandler<OutgoingConnection> = {
  open: (raw) => raw.data.connected(raw),
  handshake: (raw, authorized, failure) => raw.data.secured(raw, authorized, failure),
  data: (raw, bytes) => raw.data.data(bytes),
  drain: (raw) => raw.data.drain(),
  timeout: (raw) => raw.terminate(),
  close: (raw, failure) => raw.data.close(failure?.message),
  end: (raw) => raw.terminate(),
  error: (raw, failure) => raw.data.close(failure.message),
  connectError: (raw, failure) => raw.data.close(failure.message),
};

/** `write` with an encoding, which the runtime has and its type declarations lack (Bun 1.4.5). */
interface EncodedWriter {
  write(text: string, encoding: 'latin1'): number;
}

/** Why the peer's certificate is not for this host (RFC 6125, as Node checks it); undefined when it is. */
function identityProblem(host: string, raw: RawSocket): string | undefined {
  const certificate: unknown = (
    raw as unknown as { getPeerCertificate?: () => unknown }
  ).getPeerCertificate?.();
  if (typeof certificate !== 'object' || certificate === null || Object.keys(certificate).length === 0)
    return 'the server sent no certificate';
  return checkServerIdentity(host, certificate as PeerCertificate)?.message;
}
