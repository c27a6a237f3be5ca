// Batch API of a vendor: requests that create, read and cancel a batch, and decoding of its results. Sends nothing.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** A request to the vendor. */
export interface VendorOperation {
  readonly method: 'GET' | 'POST';
  /** Path below the endpoint's base URL. */
  readonly path: string;
  /** Body in chunks. */
  readonly body?: readonly string[];
  /** Default: JSON. */
  readonly contentType?: string;
}

/** A batch as its vendor reports it. */
export interface VendorBatch {
  readonly id: string;
  /** `full`: the vendor has no capacity and ran nothing. `refused`: it accepts nothing of the batch. */
  readonly state: 'running' | 'ended' | 'full' | 'refused';
  /** Token that the gateway assigned; null: the vendor stores none. */
  readonly token: string | null;
  /** Lines; null: not counted yet. */
  readonly total: number | null;
  readonly createdAt: UnixMs;
  /** Paths of its results, with one result per line. */
  readonly results: readonly string[];
  /** How lines without a result ended. Absent: unknown. */
  readonly unanswered?: 'expired' | 'cancelled' | undefined;
  /** Why the vendor ran nothing; null: not stated. */
  readonly problem: string | null;
}

/** Result of one line. */
export type VendorResult = { readonly lineId: string } & (
  | { readonly type: 'answered'; readonly status: number; readonly body: JsonValue }
  | { readonly type: 'expired' }
  | { readonly type: 'cancelled' }
);

export interface NewVendorBatch {
  readonly lines: readonly string[];
  /** Id of the uploaded file; null: there is no upload. */
  readonly file: string | null;
  /** Path of every line, below the base URL. */
  readonly path: string;
  /** Token by which the batch is found again. */
  readonly token: string;
}

export interface UpstreamBatches {
  /** True: it accepts only model answers, no other tasks. */
  readonly answersOnly?: true;
  /** Maximum bytes of a batch's requests. Absent: limited only by the gateway's memory. */
  readonly mostBytes?: number;
  /** Path of the results inside the batch object. Absent: they have addresses of their own. */
  readonly resultsIn?: readonly string[];
  /** Encodes one request as a line. @param body JSON without line breaks */
  encodeLine(id: string, path: string, body: string): string;
  /** Uploads the lines as a file; the answer has its `id`. Absent: the creating request contains the lines. */
  upload?(lines: readonly string[], token: string): VendorOperation;
  create(batch: NewVendorBatch): VendorOperation;
  get(id: string): VendorOperation;
  cancel(id: string): VendorOperation;
  /** Lists batches, newest first. @param after last batch of the previous page; null: first page */
  list(after: string | null): VendorOperation;
  decode(body: JsonObject): VendorBatch;
  decodeList(body: JsonObject): { readonly batches: readonly VendorBatch[]; readonly after: string | null };
  /** Null: the line contains no known result. */
  decodeResult(line: JsonObject): VendorResult | null;
}

/** Puts JSON on one line. Line breaks can only occur between its values. */
export function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}
