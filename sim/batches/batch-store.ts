// Batches of one simulated vendor: requests that are answered after a while, in part where a batch is cancelled or a model never answers.
// Knows no model: each line is a request to the simulated service itself.
import type { JsonObject, JsonValue } from '../../src/base/json/index.ts';
import type { DurationMs, UnixMs } from '../../src/base/units.ts';

export interface SimBatchesOptions {
  readonly now: () => UnixMs;
  /** How long a batch takes. */
  readonly batchMs: DurationMs;
  /** Resolves when others have had their turn. */
  readonly pause: () => Promise<void>;
  /** Answers one request. */
  readonly run: (path: string, body: JsonValue) => Promise<Response>;
  /** True: a model of this name never answers, so that a request to it expires. */
  readonly isSilent: (model: string) => boolean;
}

export interface Line {
  readonly id: string;
  readonly path: string;
  readonly model: string;
  readonly body: JsonObject;
}

export type End =
  | { readonly status: number; readonly requestId: string; readonly body: JsonValue }
  | 'expired'
  | 'cancelled';

export interface SimBatch {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly lines: readonly Line[];
  /** Members of its request that are repeated. */
  readonly repeated: JsonObject;
  /** Why it failed as a whole; null: it did not. */
  readonly problem: string | null;
  cancelledAt: UnixMs | null;
  /** Its lines are being answered. */
  isEnding: boolean;
  endedAt: UnixMs | null;
  /** Ends of its lines, once it has ended. */
  ends: readonly End[] | null;
}

const PAGE = 20;
/** Lines that are answered in one turn. */
const SLICE = 20;

export class BatchStore {
  readonly #options: SimBatchesOptions;
  readonly #prefix: string;
  readonly #all = new Map<string, SimBatch>();

  /** @param prefix before the ids of its batches */
  constructor(options: SimBatchesOptions, prefix: string) {
    this.#options = options;
    this.#prefix = prefix;
  }

  /** A batch as it stands now; undefined: there is none. */
  async find(id: string): Promise<SimBatch | undefined> {
    const batch = this.#all.get(id);
    if (batch) await this.#advance(batch);
    return batch;
  }

  add(lines: readonly Line[], repeated: JsonObject, problem: string | null): SimBatch {
    const batch: SimBatch = {
      id: `${this.#prefix}${this.#all.size + 1}`,
      createdAt: this.#options.now(),
      lines,
      repeated,
      problem,
      cancelledAt: null,
      isEnding: false,
      endedAt: null,
      ends: null,
    };
    this.#all.set(batch.id, batch);
    return batch;
  }

  /** Newest first. @param after the last one of the page before; null: the first page */
  async page(
    after: string | null,
  ): Promise<{ readonly batches: readonly SimBatch[]; readonly hasMore: boolean }> {
    const newest = [...this.#all.values()].toReversed();
    for (const batch of newest) await this.#advance(batch);
    const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    return { batches: newest.slice(from, from + PAGE), hasMore: newest.length > from + PAGE };
  }

  /** @returns as `find` */
  async cancel(id: string): Promise<SimBatch | undefined> {
    const batch = this.#all.get(id);
    if (batch && batch.ends === null && !batch.isEnding) batch.cancelledAt ??= this.#options.now();
    return this.find(id);
  }

  /** Ends a batch whose time has come. Where it was cancelled, as much as its time allowed is done. */
  async #advance(batch: SimBatch): Promise<void> {
    const { now, batchMs, pause } = this.#options;
    const { lines, createdAt, cancelledAt } = batch;
    const ranMs = (cancelledAt ?? now()) - createdAt;
    if (batch.ends !== null || batch.problem !== null || (cancelledAt === null && ranMs < batchMs)) return;
    const done = cancelledAt === null ? lines.length : Math.floor((lines.length * ranMs) / batchMs);
    if (batch.isEnding) return;
    batch.isEnding = true;
    const ends: End[] = [];
    for (const [index, line] of lines.entries()) {
      // Others are to be answered meanwhile.
      if (index % SLICE === SLICE - 1) await pause();
      ends.push(await this.#end(line, index < done));
    }
    batch.endedAt = now();
    batch.ends = ends;
  }

  async #end({ path, model, body }: Line, isDone: boolean): Promise<End> {
    if (!isDone) return 'cancelled';
    if (this.#options.isSilent(model)) return 'expired';
    const response = await this.#options.run(path, body);
    const requestId = response.headers.get('x-request-id') ?? response.headers.get('request-id') ?? '';
    return { status: response.status, requestId, body: (await response.json()) as JsonValue };
  }
}
