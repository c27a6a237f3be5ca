// Results of one vendor's batch in memory, compressed: vendors give them in any order, and lines are read in that of their file.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Endpoint } from '../../../catalog/index.ts';
import type { VendorResult } from '../../../protocols/index.ts';
import type { AnsweredLine } from './vendor-batches.ts';

type Kept = { readonly status: number; readonly body: Buffer } | { readonly end: 'expired' | 'cancelled' };

export class CollectedResults {
  readonly #byLine = new Map<number, Kept>();
  readonly #recordOf: (line: number) => Pick<AnsweredLine, 'recordId' | 'createdAt'>;
  readonly #endpoint: Endpoint;

  constructor(recordOf: (line: number) => Pick<AnsweredLine, 'recordId' | 'createdAt'>, endpoint: Endpoint) {
    this.#recordOf = recordOf;
    this.#endpoint = endpoint;
  }

  add(line: number, result: VendorResult): void {
    this.#byLine.set(
      line,
      result.type === 'answered'
        ? { status: result.status, body: gzipSync(JSON.stringify(result.body), { level: 1 }) }
        : { end: result.type },
    );
  }

  /** How a line ended at its vendor; `missing`: the vendor says nothing of it. */
  take(line: number): AnsweredLine | 'expired' | 'cancelled' | 'missing' {
    const kept = this.#byLine.get(line);
    this.#byLine.delete(line);
    if (!kept) return 'missing';
    if ('end' in kept) return kept.end;
    const { status, body } = kept;
    return { endpoint: this.#endpoint, status, body: gunzipSync(body), ...this.#recordOf(line) };
  }
}
