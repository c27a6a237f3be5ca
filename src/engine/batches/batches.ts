// Batches as clients see them: create, get, list, cancel and delete. A job runs them.
import type { Principal } from '../../accounts/auth/index.ts';
import {
  type Batch,
  type PageRequest,
  PRIORITY,
  type Storage,
  type StoredFile,
} from '../../accounts/ports/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import { GatewayError, type ProtocolName } from '../../canonical/index.ts';
import { type BatchProblem, batchesOf, type ShownBatch } from '../../protocols/index.ts';
import { type JobRunner, keptHeaders } from '../jobs/index.ts';
import type { Files, Upload } from '../state/files.ts';
import { INPUT_KEPT_MS } from './batch-input.ts';
import type { BatchPayload } from './batch-run.ts';
import { BATCH_KIND } from './batch-work.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Purpose of a batch input file. */
export const BATCH_PURPOSE = 'batch';
export interface BatchesOptions {
  readonly storage: Pick<Storage, 'batches'>;
  readonly files: Files;
  readonly runner: Pick<JobRunner, 'wake' | 'cancel'>;
  readonly settings: () => {
    /** Weight of a project among those that are queued. */
    readonly weightOf: (projectId: string) => number;
    readonly maxOpen: number;
    readonly maxBytes: number;
    readonly maxRequests: number;
    readonly maxRequestBytes: number;
    readonly maxLineBytes: number;
  };
  /** Expiry of what is stored now. Null: never. */
  readonly expiresAt: (now: UnixMs) => UnixMs | null;
  readonly clock: Clock;
}

export interface NewBatchRequest {
  readonly principal: Principal;
  readonly protocol: ProtocolName;
  readonly input: StoredFile;
  readonly facts: JsonObject;
  readonly windowMs: DurationMs;
  /** Headers of the request, by lower-case name. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
}

export class Batches {
  readonly #options: BatchesOptions;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Maximum bytes of an input file. */
  get maxBytes(): number {
    return this.#options.settings().maxBytes;
  }

  /** Maximum bytes of one line. */
  get maxLineBytes(): number {
    return this.#options.settings().maxLineBytes;
  }

  /** Starts an input whose requests come in a body instead of a file. */
  async input(): Promise<BatchInput> {
    const { files, settings } = this.#options;
    const { maxRequestBytes, maxRequests } = settings();
    return new BatchInput(await files.upload(Infinity), maxRequestBytes, maxRequests);
  }

  /** @throws GatewayError 429 `too_many_jobs` */
  async submit(request: NewBatchRequest): Promise<ShownBatch> {
    const { storage, files, runner, settings, expiresAt, clock } = this.#options;
    const { principal, protocol, input, facts, windowMs, headers } = request;
    const now = clock.wall();
    const until = now + windowMs + INPUT_KEPT_MS;
    const expiry = expiresAt(now);
    await files.keepUntil(input, until);
    const payload: BatchPayload = { headers: keptHeaders(headers) };
    const added = await storage.batches.add(
      {
        id: newId(batchesOf(protocol).idPrefix),
        projectId: principal.projectId,
        keyId: principal.keyId,
        protocol,
        inputFile: input.id,
        facts: JSON.stringify(facts),
        windowMs,
        expiresAt: expiry === null ? null : Math.max(expiry, until),
      },
      {
        kind: BATCH_KIND,
        priority: PRIORITY.batch,
        weight: settings().weightOf(principal.projectId),
        lane: null,
        home: null,
        payload: JSON.stringify(payload),
      },
      settings().maxOpen,
    );
    runner.wake();
    return shownBatch(added);
  }

  /** Null: the project has no such batch in this protocol. */
  async find(projectId: string, protocol: ProtocolName, id: string): Promise<ShownBatch | null> {
    const found = await this.#options.storage.batches.find(projectId, id);
    return found?.protocol === protocol ? shownBatch(found) : null;
  }

  /** @throws GatewayError `invalid_request` for an unknown `after` */
  async list(
    projectId: string,
    protocol: ProtocolName,
    page: PageRequest,
  ): Promise<{ readonly batches: readonly ShownBatch[]; readonly hasMore: boolean }> {
    const { batches, hasMore } = await this.#options.storage.batches.list(projectId, protocol, page);
    return { batches: batches.map(shownBatch), hasMore };
  }

  /** Cancels a batch; one that has ended is unchanged. Null: the project has no such batch. */
  async cancel(projectId: string, id: string): Promise<ShownBatch | null> {
    const { storage, runner } = this.#options;
    const found = await storage.batches.cancel(projectId, id);
    if (!found) return null;
    runner.cancel(id);
    runner.wake();
    return shownBatch(found);
  }

  /**
   * Deletes a batch that has ended, with its files.
   * @param keepsInput true: the input file belongs to the client and is kept
   * @throws GatewayError `invalid_request` if it has not ended
   */
  async delete(projectId: string, batch: ShownBatch, keepsInput: boolean): Promise<void> {
    const { storage, files } = this.#options;
    if (batch.endedAt === null)
      throw new GatewayError('invalid_request', `The batch '${batch.id}' has not ended. Cancel it first.`);
    const { inputFile, outputFile, errorFile } = batch;
    for (const id of [keepsInput ? null : inputFile, outputFile, errorFile])
      if (id !== null) await files.delete(projectId, id);
    await storage.batches.delete(projectId, batch.id);
  }
}

/** Writes requests to an input file. Exactly one of `keep` and `discard` ends it. */
class BatchInput {
  readonly #upload: Upload;
  readonly #mostBytes: number;
  readonly #most: number;
  #requests = 0;

  constructor(upload: Upload, mostBytes: number, most: number) {
    this.#upload = upload;
    this.#mostBytes = mostBytes;
    this.#most = most;
  }

  get requests(): number {
    return this.#requests;
  }

  /** @param bytes JSON @throws GatewayError `too_large` */
  async add(bytes: Buffer): Promise<void> {
    this.#requests += 1;
    if (this.#requests > this.#most)
      throw new GatewayError(
        'too_large',
        `requests: must have at most ${this.#most} elements (batches.max_requests)`,
        { param: 'requests' },
      );
    const line = Buffer.allocUnsafe(bytes.length + 1);
    line.set(bytes);
    // Line breaks in JSON occur only between tokens.
    for (let at = line.indexOf(NEWLINE); at >= 0 && at < bytes.length; at = line.indexOf(NEWLINE, at))
      line[at] = SPACE;
    line[bytes.length] = NEWLINE;
    if (this.#upload.bytes + line.length > this.#mostBytes)
      throw new GatewayError(
        'too_large',
        `The body has more than ${this.#mostBytes} bytes of requests (batches.max_request_mb).`,
      );
    await this.#upload.write(line);
  }

  keep(projectId: string, createdAt: UnixMs, expiresAt: UnixMs | null): Promise<StoredFile> {
    return this.#upload.keep({
      id: newId('file-'),
      projectId,
      createdAt,
      purpose: BATCH_PURPOSE,
      filename: 'requests.jsonl',
      mediaType: 'application/jsonl',
      expiresAt,
    });
  }

  discard(): Promise<void> {
    return this.#upload.discard();
  }
}

const NEWLINE = 10;
const SPACE = 32;

/** A batch as shown by its protocol. */
function shownBatch(batch: Batch): ShownBatch {
  const { spend, counts, problems, facts } = batch;
  return {
    id: batch.id,
    facts: JSON.parse(facts) as JsonObject,
    status: batch.status,
    inputFile: batch.inputFile,
    outputFile: batch.outputFile,
    errorFile: batch.errorFile,
    total: batch.total,
    counts,
    tokens: {
      input: spend.inputTokens,
      cached: spend.cachedTokens,
      output: spend.outputTokens,
      reasoning: spend.reasoningTokens,
    },
    costUsd: spend.unpriced > 0 ? null : spend.usd,
    problems: problems === null ? [] : (JSON.parse(problems) as readonly BatchProblem[]),
    waits: batch.waits,
    createdAt: batch.createdAt,
    deadlineAt: batch.deadlineAt,
    beganAt: batch.beganAt,
    cancelAt: batch.cancelAt,
    finalizingAt: batch.finalizingAt,
    endedAt: batch.endedAt,
  };
}
