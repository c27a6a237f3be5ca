// Outgoing TCP and TLS connections. The only file that uses `Bun.connect`.
import { checkServerIdentity, getCACertificates, type PeerCertificate } from 'node:tls';
import { NestedTls } from './nested-tls.ts';
import { errorText } from '../lib/errors.ts';

export interface SocketListener {
  open(socket: ClientSocket): void;
  /** Called once per read. The listener owns the bytes: they are never overwritten. */
  data(bytes: Buffer): void;
  /** Called when the send buffer accepts data again. */
  drain(): void;
  /** Called exactly once, also if connecting failed. `reason` is undefined after a normal close. */
  closed(reason: string | undefined): void;
}

export interface ClientSocket {
  /** Writes as much as the kernel's buffer takes. @returns the number of bytes; -1 if the socket is closed */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  /** Closes immediately. */
  terminate(): void;
  /**
   * Starts TLS with the host at the other end, as after a proxy's CONNECT. From now on only this listener receives events,
   * and its `open` gets the secured socket once the host is verified.
   */
  secure(target: SecureTarget, listener: SocketListener): void;
}

/** Peer of a TLS connection, and the certificates of both sides. */
export interface SecureTarget {
  /** Name for which the certificate must be valid. */
  readonly host: string;
  readonly security?: Security | undefined;
}

/** All texts are PEM. */
export interface Security {
  /** Trusted authorities. */
  readonly ca?: readonly string[] | undefined;
  /** True: only `ca` is trusted. Else the machine's authorities are trusted as well. */
  readonly trustsOnlyThese?: boolean | undefined;
  /** Client certificate for servers that request one, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface SocketTarget extends SecureTarget {
  /**
   * Address to connect to instead of resolving the host name. Certificates are still checked for the host.
   */
  readonly address?: string | undefined;
  readonly port: number;
  readonly tls: boolean;
}

/**
 * Connects to a host. TLS connections open only after the certificate chain and the host name are verified.
 * @returns a function that cancels the attempt
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
  }).catch((failure: unknown) => connection.close(errorText(failure)));
  return () => connection.abandon();
}

type RawSocket = Bun.Socket<OutgoingConnection>;

class OutgoingConnection implements ClientSocket {
  #listener: SocketListener;
  /** Peer of the TLS connection; undefined for plain TCP. */
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
    // Bun cannot start TLS inside a TLS socket.
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
    // From now on the plain socket's events carry ciphertext and are ignored.
    plain.data = new OutgoingConnection(NO_TARGET, listener);
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

  /** @param failure Bun's finding about the certificate chain */
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

const NO_TARGET: SocketTarget = { host: '', port: 0, tls: false };

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
    // In Bun, `ca` replaces the default authorities.
    ...(ca ? { ca: trustsOnlyThese ? [...ca] : withDefaultAuthorities(ca) } : {}),
    ...(cert !== undefined && key !== undefined ? { cert, key } : {}),
  };
}

const completed = new WeakMap<readonly string[], string[]>();

/** These authorities and the machine's. */
function withDefaultAuthorities(ca: readonly string[]): string[] {
  let all = completed.get(ca);
  if (!all) completed.set(ca, (all = [...getCACertificates('default'), ...ca]));
  return all;
}

/** Handlers that all connections share. */
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

/** Reason why the peer's certificate is not valid for this host (RFC 6125, checked by Node); undefined if it is valid. */
function identityProblem(host: string, raw: RawSocket): string | undefined {
  const certificate: unknown = (
    raw as unknown as { getPeerCertificate?: () => unknown }
  ).getPeerCertificate?.();
  if (typeof certificate !== 'object' || certificate === null || Object.keys(certificate).length === 0)
    return 'the server sent no certificate';
  return checkServerIdentity(host, certificate as PeerCertificate)?.message;
}
