// One payload as it is read, and as the database has it: what stood before the body as JSON, the body compressed.
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import type { PayloadStage, StoredPayload } from '../../accounts/ports/index.ts';

const compressed = promisify(zstdCompress);
const uncompressed = promisify(zstdDecompress);
/** Fast: what is kept is short-lived, and much alike. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Head of a payload, and what is known of its body. */
export interface PayloadHead {
  /** Method of a request; null for answers. */
  readonly method: string | null;
  /** Address of a request: a path with its query from clients, the whole address to upstreams. Secrets masked. */
  readonly address: string | null;
  /** Status of an answer; null for requests. */
  readonly status: number | null;
  /** Names in lower case; secrets masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Size of the whole body, though less of it may be kept. */
  readonly bytes: number;
  /** True where only the beginning of the body is kept. */
  readonly isCut: boolean;
  /** True where the body held credentials, which are not kept. */
  readonly isMasked: boolean;
  /** Milliseconds since the request arrived, and bytes, in turn: of each read or write. */
  readonly reads: readonly number[];
}

export interface Payload extends PayloadHead {
  readonly stage: PayloadStage;
  /** Ordinal of the attempt; null where it is of none. */
  readonly attempt: number | null;
  readonly body: Buffer;
}

export async function toStored({ stage, attempt, body, ...head }: Payload): Promise<StoredPayload> {
  return { stage, attempt, head: JSON.stringify(head), body: await compressed(body, FAST) };
}

export async function fromStored({ stage, attempt, head, body }: StoredPayload): Promise<Payload> {
  return { ...(JSON.parse(head) as PayloadHead), stage, attempt, body: await uncompressed(body) };
}
