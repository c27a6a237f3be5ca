// Interface of a protocol. Codecs are pure and synchronous: JSON in, canonical out, and back. No I/O, no
// clock, no configuration; ids and time are injected.
import type { ProtocolName } from '../canonical/index.ts';
import type { BackgroundCodec } from './codec/background-codec.ts';
import type { RelayCodec } from './codec/relay-codec.ts';
import type { ServerCodec, StoredItems } from './codec/server-codec.ts';
import type { UpstreamCodec } from './codec/upstream-codec.ts';

export type * from './codec/background-codec.ts';
export type * from './codec/batch-codec.ts';
export type {
  NewVendorBatch,
  UpstreamBatches,
  VendorBatch,
  VendorOperation,
  VendorResult,
} from './codec/upstream-batches.ts';
export type * from './codec/client-addresses.ts';
export type * from './codec/relay-codec.ts';
export type * from './codec/remote-answers.ts';
export type * from './codec/server-codec.ts';
export type * from './codec/task-codec.ts';
export type * from './codec/thread-codec.ts';
export type * from './codec/upstream-codec.ts';

/** Values that codecs may not make themselves. */
export interface CodecContext {
  /** A new id: the prefix followed by random characters that no other id has. */
  newId(prefix: string): string;
  /** Unix time in seconds. */
  nowSeconds(): number;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly upstream: UpstreamCodec;
  /** Absent: requests of this protocol always take the translate lane. */
  readonly relay?: RelayCodec;
  /** Absent while clients cannot speak this protocol to the gateway. */
  readonly server?: ServerCodec;
}

/** One that clients can speak. */
export type ServedProtocol = Protocol & { readonly server: ServerCodec };

/** One whose items and answers the gateway keeps. */
export type KeepingProtocol = Protocol & { readonly server: KeepingServer };
type KeepingServer = ServerCodec & { readonly items: StoredItems; readonly background: BackgroundCodec };
