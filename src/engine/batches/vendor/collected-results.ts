// Results of one vendor's batch in memory, compressed: vendors give them in any order, and lines are read in that of their file.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Endpoint } from '../../../catalog/index.ts';
import type { VendorBatch, VendorResult } from '../../../protocols/index.ts';
import type { AnsweredLine } from './vendor-batches.ts';
import type { VendorGroup } from './vendor-groups.ts';

type Kept = { readonly status: number; readonly body: Buffer } | { readonly end: 'expired' | 'cancelled' };

export class CollectedResults {
  /** Numbers of all lines of the batch. */
  readonly lines: ReadonlySet<number>;
  readonly #token: string;
  readonly #byLine = new Map<number, Kept>();
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

  /** Takes a result of one of its lines. */
  add(result: VendorResult | null): void {
    if (!result?.lineId.startsWith(`${this.#token}-`)) return;
    const line = Number(result.lineId.slice(this.#token.length + 1));
    if (!this.lines.has(line)) return;
    this.#byLine.set(
      line,
      result.type === 'answered'
        ? { status: result.status, body: gzipSync(JSON.stringify(result.body), { level: 1 }) }
        : { end: result.type },
    );
  }

  /** There are no more. @param unanswered how the other lines ended */
  end(unanswered: VendorBatch['unanswered']): void {
    if (unanswered) this.#unanswered = unanswered;
  }

  /** How a line ended at its vendor; `missing`: the vendor says nothing of it. */
  take(line: number): AnsweredLine | 'expired' | 'cancelled' | 'missing' {
    const kept = this.#byLine.get(line);
    this.#byLine.delete(line);
    if (!kept) return this.#unanswered;
    if ('end' in kept) return kept.end;
    const { status, body } = kept;
    return { endpoint: this.#endpoint, status, body: gunzipSync(body), ...this.#recordOf(line) };
  }
}
