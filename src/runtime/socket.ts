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
  let done = false;
  let opened: Bun.Socket | undefined;
  const close = (reason: string | undefined): void => {
    if (done) return;
    done = true;
    listener.closed(reason);
  };
  const ready = (raw: Bun.Socket): void => {
    raw.setNoDelay(true);
    listener.open({
      write: (bytes) => (raw as unknown as EncodedWriter).write(bytes, 'latin1'),
      pause: () => void raw.pause(),
      resume: () => void raw.resume(),
      idleTimeout: (seconds) => void raw.timeout(seconds),
      terminate: () => void raw.terminate(),
    });
  };
  Bun.connect({
    hostname: target.host,
    port: target.port,
    ...(target.tls
      ? {
          tls: { serverName: target.host, rejectUnauthorized: true, ...(target.ca ? { ca: target.ca } : {}) },
        }
      : {}),
    socket: {
      open(raw) {
        if (done) raw.terminate();
        else {
          opened = raw;
          if (!target.tls) ready(raw);
        }
      },
      handshake(raw, _authorized, failure) {
        if (done || !target.tls) return;
        const problem = failure?.message ?? identityProblem(target.host, raw);
        if (problem === undefined) return ready(raw);
        close(`TLS: ${problem}`);
        raw.terminate();
      },
      data(_raw, bytes) {
        if (!done) listener.data(bytes.toString('latin1'));
      },
      drain() {
        if (!done) listener.drain();
      },
      timeout(raw) {
        raw.terminate();
      },
      close(_raw, failure) {
        close(failure?.message);
      },
      end(raw) {
        raw.terminate();
      },
      error(_raw, failure) {
        close(failure.message);
      },
      connectError(_raw, failure) {
        close(failure.message);
      },
    },
  }).catch((failure: unknown) => close(failure instanceof Error ? failure.message : String(failure)));
  return () => {
    close('abandoned');
    opened?.terminate();
  };
}

/** `write` with an encoding, which the runtime has and its type declarations lack (Bun 1.4.5). */
interface EncodedWriter {
  write(text: string, encoding: 'latin1'): number;
}

/** Why the peer's certificate is not for this host (RFC 6125, as Node checks it); undefined when it is. */
function identityProblem(host: string, raw: Bun.Socket): string | undefined {
  const certificate: unknown = (
    raw as unknown as { getPeerCertificate?: () => unknown }
  ).getPeerCertificate?.();
  if (typeof certificate !== 'object' || certificate === null || Object.keys(certificate).length === 0)
    return 'the server sent no certificate';
  return checkServerIdentity(host, certificate as PeerCertificate)?.message;
}
