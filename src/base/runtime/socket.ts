// Outgoing TCP and TLS connections. The only file that knows how this runtime makes them.
// What is read and written is bytes.
import { checkServerIdentity, getCACertificates, type PeerCertificate } from 'node:tls';
import { NestedTls } from './nested-tls.ts';

export interface SocketListener {
  open(socket: ClientSocket): void;
  /** One call per read. The bytes are the listener's: nobody writes to them later. */
  data(bytes: Buffer): void;
  /** The send buffer has room again. */
  drain(): void;
  /** Called exactly once, also when the connection could not be made; `reason` says why if it was not a plain close. */
  closed(reason: string | undefined): void;
}

export interface ClientSocket {
  /** Sends what fits into the kernel's buffer; returns the number of bytes taken, -1 when the socket is closed. */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Closes at once. */
  terminate(): void;
  /**
   * Begins TLS with the host that what was said so far has led to. From here on only this listener hears of the
   * connection, and `open` gives it what it writes to once the host was verified.
   */
  secure(target: SecureTarget, listener: SocketListener): void;
}

/** TLS peer, and how each side proves who it is. */
export interface SecureTarget {
  /** The name for which the certificate must be good. */
  readonly host: string;
  readonly security?: Security | undefined;
}

/** Everything is PEM. */
export interface Security {
  /** Authorities that are trusted. */
  readonly ca?: readonly string[] | undefined;
  /** True: those alone. Else the ones that the machine trusts as well. */
  readonly trustsOnlyThese?: boolean | undefined;
  /** The certificate that is shown to whoever asks for one, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface SocketTarget extends SecureTarget {
  /**
   * Address to connect to, if not the one that the host's name leads to: certificates are still checked for the host.
   */
  readonly address?: string | undefined;
  readonly port: number;
  readonly tls: boolean;
}

/**
 * Connects to a host. TLS connections open only after the certificate chain and the host name were verified.
 * @returns a function that abandons the attempt
 */
export function connectSocket(target: SocketTarget, listener: SocketListener): () => void {
  const connection = new OutgoingConnection(target, listener);
  const { host, address, port, tls } = target;
  Bun.connect<OutgoingConnection>({
    hostname: address ?? host,
    port,
    ...(tls ? { tls: tlsOptions(target) } : {}),
    data: connection,
    socket: HANDLERS,
  }).catch((failure: unknown) =>
    connection.close(failure instanceof Error ? failure.message : String(failure)),
  );
  return () => connection.abandon();
}

type RawSocket = Bun.Socket<OutgoingConnection>;

class OutgoingConnection implements ClientSocket {
  #listener: SocketListener;
  /** With whom TLS is spoken; undefined while it is not. */
  #secured: SecureTarget | undefined;
  #raw: RawSocket | undefined;
  #done = false;

  constructor(target: SocketTarget, listener: SocketListener) {
    this.#secured = target.tls ? target : undefined;
    this.#listener = listener;
  }

  write(bytes: Uint8Array): number {
    return this.#raw ? this.#raw.write(bytes) : -1;
  }

  pause(): void {
    this.#raw?.pause();
  }

  resume(): void {
    this.#raw?.resume();
  }

  terminate(): void {
    this.#raw?.terminate();
  }

  secure(target: SecureTarget, listener: SocketListener): void {
    const raw = this.#raw;
    if (!raw || this.#done) return;
    // The runtime cannot put TLS into a socket that already speaks it.
    if (this.#secured) {
      const nested = new NestedTls(this, { ...tlsOptions(target), host: target.host }, listener);
      this.#listener = nested.outer;
      return;
    }
    this.#listener = listener;
    this.#secured = target;
    const [plain, secured] = raw.upgradeTLS<OutgoingConnection>({
      data: this,
      tls: tlsOptions(target),
      socket: HANDLERS,
    });
    this.#raw = secured;
    // Events of the plain socket hold ciphertext from now on: nobody listens to them.
    plain.data = new OutgoingConnection(NOWHERE, listener);
    plain.data.#done = true;
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
    if (!this.#secured) this.#ready(raw);
  }

  /** @param failure what the runtime found wrong with the certificate chain */
  secured(raw: RawSocket, authorized: boolean, failure: Error | null | undefined): void {
    if (this.#done || !this.#secured) return;
    const unverified = authorized ? undefined : 'the certificate could not be verified';
    const problem = failure?.message ?? unverified ?? identityProblem(this.#secured.host, raw);
    if (problem === undefined) return this.#ready(raw);
    this.close(`TLS: ${problem}`);
    raw.terminate();
  }

  data(bytes: Buffer): void {
    if (!this.#done) this.#listener.data(bytes);
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

const NOWHERE: SocketTarget = { host: '', port: 0, tls: false };

interface TlsOptions {
  readonly serverName: string;
  readonly rejectUnauthorized: true;
  readonly ca?: string[];
  readonly cert?: string;
  readonly key?: string;
}

function tlsOptions({ host, security }: SecureTarget): TlsOptions {
  const { ca, trustsOnlyThese, cert, key } = security ?? {};
  return {
    serverName: host,
    rejectUnauthorized: true,
    // The runtime trusts what it is given instead of what it would trust.
    ...(ca ? { ca: trustsOnlyThese ? [...ca] : besidesDefaults(ca) } : {}),
    ...(cert !== undefined && key !== undefined ? { cert, key } : {}),
  };
}

const completed = new WeakMap<readonly string[], string[]>();

/** These authorities, and those that the machine trusts. */
function besidesDefaults(ca: readonly string[]): string[] {
  let all = completed.get(ca);
  if (!all) completed.set(ca, (all = [...getCACertificates('default'), ...ca]));
  return all;
}

/** One set for all connections: a thousand streams need no thousand sets. */
const HANDLERS: Bun.SocketHandler<OutgoingConnection> = {
  open: (raw) => raw.data.connected(raw),
  handshake: (raw, authorized, failure) => raw.data.secured(raw, authorized, failure),
  data: (raw, bytes) => raw.data.data(bytes),
  drain: (raw) => raw.data.drain(),
  close: (raw, failure) => raw.data.close(failure?.message),
  end: (raw) => raw.terminate(),
  error: (raw, failure) => raw.data.close(failure.message),
  connectError: (raw, failure) => raw.data.close(failure.message),
};

/** Why the peer's certificate is not for this host (RFC 6125, as Node checks it); undefined when it is. */
function identityProblem(host: string, raw: RawSocket): string | undefined {
  const certificate: unknown = (
    raw as unknown as { getPeerCertificate?: () => unknown }
  ).getPeerCertificate?.();
  if (typeof certificate !== 'object' || certificate === null || Object.keys(certificate).length === 0)
    return 'the server sent no certificate';
  return checkServerIdentity(host, certificate as PeerCertificate)?.message;
}
