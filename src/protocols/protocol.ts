// Interface of a protocol. Codecs are pure and synchronous functions between JSON and the canonical model: no I/O,
// clock or configuration. Ids and time are injected.
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

/** Ids and time for codecs. */
export interface CodecContext {
  /** Creates a unique id: the prefix followed by random characters. */
  newId(prefix: string): string;
  /** Returns the Unix time in seconds. */
  nowSeconds(): number;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly upstream: UpstreamCodec;
  /** Absent: requests of this protocol always use the translate lane. */
  readonly relay?: RelayCodec;
  /** Absent: clients cannot use this protocol. */
  readonly server?: ServerCodec;
}

/** A protocol that clients can use. */
export type ServedProtocol = Protocol & { readonly server: ServerCodec };

/** A protocol whose items and answers the gateway stores. */
export type KeepingProtocol = Protocol & { readonly server: KeepingServer };
type KeepingServer = ServerCodec & { readonly items: StoredItems; readonly background: BackgroundCodec };
