// Results of one vendor batch in memory, compressed. Vendors return them in any order, and lines are processed in file
// order.
import { compress, decompress } from '../../../base/lib/gzip.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import type { VendorBatch, VendorResult } from '../../../protocols/index.ts';
import type { AnsweredLine } from './vendor-batches.ts';
import type { VendorGroup } from './vendor-groups.ts';

type KeptResult =
  | { readonly status: number; readonly body: Uint8Array }
  | { readonly end: 'expired' | 'cancelled' };

export class CollectedResults {
  /** Numbers of all lines in the batch. */
  readonly lines: ReadonlySet<number>;
  readonly #token: string;
  readonly #byLine = new Map<number, KeptResult>();
  readonly #recordOf: (line: number) => Pick<AnsweredLine, 'recordId' | 'createdAt'>;
  readonly #endpoint: Endpoint;
  #unanswered: NonNullable<VendorBatch['unanswered']> | 'missing' = 'missing';

  constructor(
    { lines, token }: VendorGroup,
    recordOf: (line: number) => Pick<AnsweredLine, 'recordId' | 'createdAt'>,
    endpoint: Endpoint,
  ) {
    this.lines = new Set(lines);
    this.#token = token;
    this.#recordOf = recordOf;
    this.#endpoint = endpoint;
  }

  /** Adds the result of a line. */
  async add(result: VendorResult | null): Promise<void> {
    if (!result?.lineId.startsWith(`${this.#token}-`)) return;
    const line = Number(result.lineId.slice(this.#token.length + 1));
    if (!this.lines.has(line)) return;
    this.#byLine.set(
      line,
      result.type === 'answered'
        ? { status: result.status, body: await compress(Buffer.from(JSON.stringify(result.body)), 1) }
        : { end: result.type },
    );
  }

  /** Marks the results as complete. @param unanswered how the other lines ended */
  end(unanswered: VendorBatch['unanswered']): void {
    if (unanswered) this.#unanswered = unanswered;
  }

  /** Result of a line at its vendor; `missing`: the vendor returned none. */
  async take(line: number): Promise<AnsweredLine | 'expired' | 'cancelled' | 'missing'> {
    const kept = this.#byLine.get(line);
    this.#byLine.delete(line);
    if (!kept) return this.#unanswered;
    if ('end' in kept) return kept.end;
    const { status, body } = kept;
    return { endpoint: this.#endpoint, status, body: await decompress(body), ...this.#recordOf(line) };
  }
}
