// A payload, and its stored form: its head as JSON, and its compressed body.
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import type { PayloadStage, StoredPayload } from '../../accounts/ports/index.ts';

const compressed = promisify(zstdCompress);
const uncompressed = promisify(zstdDecompress);
/** Fast compression, because payloads are short-lived and similar to each other. */
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Head of a payload, and properties of its body. */
export interface PayloadHead {
  /** Request method; null for answers. */
  readonly method: string | null;
  /** URL of a request, with secrets masked: path and query from clients, absolute to upstreams. Null for answers. */
  readonly address: string | null;
  /** Status of an answer; null for requests. */
  readonly status: number | null;
  /** Lower-case names; secrets masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Size of the whole body, even if truncated. */
  readonly bytes: number;
  /** True if only the beginning of the body is stored. */
  readonly isCut: boolean;
  /** True if credentials in the body were masked. */
  readonly isMasked: boolean;
  /** Pairs of milliseconds since the request arrived and bytes, one for each read or write. */
  readonly reads: readonly number[];
}

export interface Payload extends PayloadHead {
  readonly stage: PayloadStage;
  /** Number of the attempt; null: none. */
  readonly attempt: number | null;
  readonly body: Buffer;
}

export async function toStored({ stage, attempt, body, ...head }: Payload): Promise<StoredPayload> {
  return { stage, attempt, head: JSON.stringify(head), body: await compressed(body, FAST) };
}

export async function fromStored({ stage, attempt, head, body }: StoredPayload): Promise<Payload> {
  return { ...(JSON.parse(head) as PayloadHead), stage, attempt, body: await uncompressed(body) };
}
