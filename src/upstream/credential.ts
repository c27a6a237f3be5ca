// Proof of identity to an upstream where no fixed header gives it. Knows no provider.
import type { Slices } from '../base/lib/slices.ts';
import type { Method } from './client.ts';
import type { UnixMs } from '../base/units.ts';

/** A request that is about to be sent. */
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
   * Headers to add, names in lower case. A promise only where something has to be fetched first.
   * @throws GatewayError (or rejects with it) when they cannot be had
   */
  headers(request: UnsignedRequest): SignatureHeaders | Promise<SignatureHeaders>;
  /**
   * Learns how a signed request was answered. Absent: the credential never changes.
   * @returns true when the signature was refused for its age, and another one is to be had
   */
  refused?(answer: SignedAnswer, signedAt: UnixMs): boolean;
}

/** A credential that has all it needs until it expires. */
export interface ReadyCredential {
  headers(request: UnsignedRequest): SignatureHeaders;
  /** True for an answer by which the upstream says that it takes this credential no more. */
  isRefusal(answer: SignedAnswer): boolean;
}
