// What a protocol implements. Codecs are pure and synchronous: JSON in, canonical out, and back. No I/O, no
// clock, no configuration; ids and time are injected.
import type { ProtocolName } from '../canonical/index.ts';
import type { CountCodec } from './count-codec.ts';
import type { EmbeddingsCodec } from './embeddings-codec.ts';
import type { RelayCodec } from './relay-codec.ts';
import type { ServerCodec, StoredItems } from './server-codec.ts';
import type { UpstreamCodec } from './upstream-codec.ts';

export type * from './client-addresses.ts';
export type * from './count-codec.ts';
export type * from './embeddings-codec.ts';
export type * from './relay-codec.ts';
export type * from './remote-answers.ts';
export type * from './server-codec.ts';
export type * from './upstream-codec.ts';

/** What codecs may not make themselves. */
export interface CodecContext {
  /** A new id: the prefix followed by random characters that no other id has. */
  newId(prefix: string): string;
  /** Unix time in seconds. */
  nowSeconds(): number;
}

/** What a host that serves a protocol for its owner wants in another form than the owner does. */
export interface HostedForms {
  /** Absent: the owner's own form. */
  readonly counting?: Pick<CountCodec, 'encodeRequest'>;
  /** Absent: the owner's own form. Its path takes the place of `{operation}` in the host's. */
  readonly embeddings?: EmbeddingsCodec;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly upstream: UpstreamCodec;
  /** Absent: servers of the protocol have no operation that counts tokens. */
  readonly counting?: CountCodec;
  /** Absent: no server of this protocol makes embeddings. */
  readonly embeddings?: EmbeddingsCodec;
  /** Absent: hosts want everything in the owner's form. */
  readonly hosted?: HostedForms;
  /** Absent: requests of this protocol always take the translate lane. */
  readonly relay?: RelayCodec;
  /** Absent while clients cannot speak this protocol to the gateway. */
  readonly server?: ServerCodec;
}

/** One that clients can speak. */
export type ServedProtocol = Protocol & { readonly server: ServerCodec };

/** One whose items and answers the gateway keeps. */
export type KeepingProtocol = Protocol & { readonly server: KeepingServer };
type KeepingServer = ServerCodec & { readonly items: StoredItems };
