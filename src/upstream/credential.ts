// Credentials for upstreams where fixed headers do not suffice.
import type { Slices } from '../base/lib/bytes.ts';
import type { Method } from './client.ts';
import type { UnixMs } from '../base/units.ts';

/** A request before it is signed. */
export interface UnsignedRequest {
  readonly method: Method;
  /** Absolute. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Slices;
}

export type SignatureHeaders = Readonly<Record<string, string>>;

/** Answer of an upstream to a signed request. */
export interface SignedAnswer {
  readonly status: number;
  /** Reads a header by lower-case name. */
  header(name: string): string | null;
}

export interface Credential {
  /**
   * Headers to add, with lower-case names. A promise only when something must be fetched first.
   * @throws GatewayError (or rejects with it) when they are unavailable
   */
  headers(request: UnsignedRequest): SignatureHeaders | Promise<SignatureHeaders>;
  /**
   * Reports the answer to a signed request. Absent: the credential never changes.
   * @returns true when the signature was refused as expired and another one is available
   */
  refused?(answer: SignedAnswer, signedAt: UnixMs): boolean;
}

/** A credential that needs nothing further until it expires. */
export interface ReadyCredential {
  headers(request: UnsignedRequest): SignatureHeaders;
  /** True for an answer that refuses this credential. */
  isRefusal(answer: SignedAnswer): boolean;
}
