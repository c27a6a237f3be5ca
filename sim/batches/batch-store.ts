// Batches of one simulated vendor. Each line is sent to the simulated service once the batch's time is over. Lines of
// cancelled batches can be cancelled, and lines for models that never answer expire.
import type { JsonObject, JsonValue } from '../../src/base/json/index.ts';
import type { DurationMs, UnixMs } from '../../src/base/units.ts';

export interface SimBatchesOptions {
  readonly now: () => UnixMs;
  /** Duration of a batch. */
  readonly batchMs: DurationMs;
  /** Lets other requests run. */
  readonly pause: () => Promise<void>;
  /** Answers one request. */
  readonly run: (path: string, body: JsonValue) => Promise<Response>;
  /** True: the model never answers, so that its lines expire. */
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
  /** Members of the request that responses repeat. */
  readonly repeated: JsonObject;
  /** Why the whole batch failed; null: it did not. */
  readonly problem: string | null;
  cancelledAt: UnixMs | null;
  /** True once its lines are being answered. */
  isEnding: boolean;
  endedAt: UnixMs | null;
  /** Results of its lines; null until it has ended. */
  ends: readonly End[] | null;
}

const PAGE = 20;
/** Lines answered before other requests may run. */
const SLICE = 20;

export class BatchStore {
  readonly #options: SimBatchesOptions;
  readonly #prefix: string;
  readonly #all = new Map<string, SimBatch>();

  /** @param prefix prefix of batch ids */
  constructor(options: SimBatchesOptions, prefix: string) {
    this.#options = options;
    this.#prefix = prefix;
  }

  /** Current state of a batch; undefined: there is none. */
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

  /** A page of batches, newest first. @param after last id of the previous page; null: the first page */
  async page(
    after: string | null,
  ): Promise<{ readonly batches: readonly SimBatch[]; readonly hasMore: boolean }> {
    const newest = [...this.#all.values()].toReversed();
    for (const batch of newest) await this.#advance(batch);
    const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    return { batches: newest.slice(from, from + PAGE), hasMore: newest.length > from + PAGE };
  }

  /** @returns the batch; undefined: there is none */
  async cancel(id: string): Promise<SimBatch | undefined> {
    const batch = this.#all.get(id);
    if (batch && batch.ends === null && !batch.isEnding) batch.cancelledAt ??= this.#options.now();
    return this.find(id);
  }

  /** Ends a batch if its time is over. A cancelled batch completes the share of its lines that it had time for. */
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
      // Lets other requests run between slices.
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
