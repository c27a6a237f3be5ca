// Batch API of a vendor, as the gateway asks it: how a batch is begun, looked at and ended, and what a line of its results says. Asks
// nobody.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** A request to the vendor. */
export interface VendorOperation {
  readonly method: 'GET' | 'POST';
  /** Below the base URL of the endpoint. */
  readonly path: string;
  /** In pieces. */
  readonly body?: readonly string[];
  /** Default: JSON. */
  readonly contentType?: string;
}

/** A batch as its vendor tells of it. */
export interface VendorBatch {
  readonly id: string;
  /** `full`: the vendor has no room, and ran nothing of it. `refused`: it takes nothing of it. */
  readonly state: 'running' | 'ended' | 'full' | 'refused';
  /** Mark that the gateway gave it; null: the vendor keeps none. */
  readonly token: string | null;
  /** Lines; null: not counted yet. */
  readonly total: number | null;
  readonly createdAt: UnixMs;
  /** Paths of its results, one of them a line. */
  readonly results: readonly string[];
  /** How its lines without a result ended. Absent: nobody knows. */
  readonly unanswered?: 'expired' | 'cancelled' | undefined;
  /** Why the vendor ran nothing of it; null: it did not say so. */
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
  /** Id of the file that `upload` made of them; null: there is no upload. */
  readonly file: string | null;
  /** Path of every line, below the base URL. */
  readonly path: string;
  /** Mark by which it is found again. */
  readonly token: string;
}

export interface UpstreamBatches {
  /** True: it takes answers of models alone, and no other tasks. */
  readonly answersOnly?: true;
  /** Most bytes of the requests of one batch. Absent: as many as the gateway wants to hold. */
  readonly mostBytes?: number;
  /** Place of the results in the batch itself. Absent: they have addresses of their own. */
  readonly resultsIn?: readonly string[];
  /** One request as a line. @param body JSON, which stands on one line then */
  encodeLine(id: string, path: string, body: string): string;
  /** Puts the lines into a file; its answer has the `id`. Absent: the lines are in the request that begins the batch. */
  upload?(lines: readonly string[], token: string): VendorOperation;
  create(batch: NewVendorBatch): VendorOperation;
  get(id: string): VendorOperation;
  cancel(id: string): VendorOperation;
  /** Newest first. @param after the last one of the page before; null: the first page */
  list(after: string | null): VendorOperation;
  decode(body: JsonObject): VendorBatch;
  decodeList(body: JsonObject): { readonly batches: readonly VendorBatch[]; readonly after: string | null };
  /** Null: the line tells of nothing that is known. */
  decodeResult(line: JsonObject): VendorResult | null;
}

/** JSON on one line: line ends stand between its values alone. */
export function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}
