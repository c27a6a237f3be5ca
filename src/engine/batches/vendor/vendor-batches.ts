// Lines of a batch at vendors' batch APIs: submits groups, polls, collects and cancels them. The next run continues
// after an interruption: nothing is submitted twice, and each answer is charged once.
import { createHash } from 'node:crypto';
import { asObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { type Endpoint, endpointsFor } from '../../../catalog/index.ts';
import { findProtocol, type UpstreamBatches, type VendorBatch } from '../../../protocols/index.ts';
import type { JobWait } from '../../../accounts/ports/index.ts';
import type { DeferredRequest } from '../../call.ts';
import type { BatchRun } from '../batch-run.ts';
import { isNewReason } from '../../jobs/index.ts';
import { readLines } from '../read-lines.ts';
import { TimeSlices } from '../time-slices.ts';
import { CollectedResults } from './collected-results.ts';
import { DeferredLines, type Gathered } from './deferred-lines.ts';
import { askVendor, askVendorBatch, readVendorFile, type VendorAnswer } from './vendor-calls.ts';
import { VendorGroups, type VendorGroup } from './vendor-groups.ts';
import type { DurationMs, UnixMs } from '../../../base/units.ts';

/** Milliseconds for which a submission with unknown outcome may still be in transit. */
const IN_TRANSIT_MS = 60_000;
/** Maximum delay of a vendor's clock, in milliseconds. */
const CLOCKS_MS = 300_000;
/** Milliseconds that vendors have to finish batches that have ended here. */
const PATIENCE_MS = 3_600_000;
/** Milliseconds before returned lines are sent as ordinary requests. */
const SOON_MS = 200;
/** Maximum pages of a vendor's list that are searched for a submission. */
const MOST_PAGES = 50;

/** A vendor's answer to one line, with the identity of its record. */
export interface AnsweredLine {
  readonly endpoint: Endpoint;
  readonly status: number;
  readonly body: Buffer;
  /** Identical in every run. */
  readonly recordId: string;
  readonly createdAt: UnixMs;
}

export class VendorBatches {
  readonly #of: BatchRun;
  readonly #groups: VendorGroups;
  readonly #deferred: DeferredLines;
  /** Milliseconds until lines that came back in this run are tried. Undefined: none came back. */
  #nextPollMs: DurationMs | undefined;
  #hasCollected = false;

  private constructor(of: BatchRun, groups: VendorGroups) {
    this.#of = of;
    this.#groups = groups;
    this.#deferred = new DeferredLines(of.deps.settings().vendorMaxLines);
  }

  static async open(of: BatchRun): Promise<VendorBatches> {
    return new VendorBatches(of, await VendorGroups.load(of.run));
  }

  /** True: the line is at a vendor and must not be sent again. */
  holds(line: number): boolean {
    return this.#groups.holds(line);
  }

  /** True when a line may go to its vendor's batch API. */
  takes(line: number): boolean {
    return !this.#groups.cameBack(line) && !this.#groups.isGivenUp;
  }

  /** True: all lines are at vendors or have ended, as far as this run knows. */
  hasAll(total: number | null, ended: number): boolean {
    return total !== null && !this.#hasCollected && this.#groups.held + ended >= total;
  }

  /** Adds a line. If its group was full, resolves once that is submitted. */
  async add(number: number, endpoint: Endpoint, request: DeferredRequest): Promise<void> {
    const full = this.#deferred.add(endpoint, { number, ...request }, codecOf(endpoint)?.mostBytes);
    if (full) await this.#submit(full);
  }

  /** Submits the remaining groups. */
  async flush(): Promise<void> {
    for (const gathered of this.#deferred.takeAll()) await this.#submit(gathered);
  }

  /** Why the batch has to wait for vendors. Null: it does not. */
  wait(): JobWait | null {
    const { clock, settings } = this.#of.deps;
    const { stop, batch, leftMs, run } = this.#of;
    const { open } = this.#groups;
    if (open.length === 0 && this.#nextPollMs === undefined) return null;
    const overSince =
      stop?.type === 'end' ? (batch.cancelAt ?? Math.min(batch.deadlineAt, clock.wall())) : null;
    if (overSince !== null && clock.wall() - overSince > PATIENCE_MS) return null;
    const lines = open.reduce((sum, group) => sum + group.lines.length, 0);
    const slugs = [...new Set(open.map(({ slug }) => slug))].join(', ');
    const reason =
      lines > 0
        ? `${lines} lines were submitted to batches of ${slugs}.`
        : "Some lines have returned from their vendor's batch.";
    const pollMs = settings().vendorPollMs;
    const delayMs = Math.min(pollMs, this.#nextPollMs ?? pollMs);
    const forMs = leftMs > 0 ? Math.min(delayMs, leftMs) : delayMs;
    return { reason, forMs, hasBegun: false, isNew: isNewReason(run.job, reason) };
  }

  /**
   * Polls all groups: collects finished ones, and cancels those of a batch that is over.
   * @param collect processes the answers of a group
   */
  async look(collect: (results: CollectedResults) => Promise<void>): Promise<void> {
    for (const group of this.#groups.open) {
      if (this.#of.isLost || !this.#of.deps.takes()) return;
      const endpoint = this.#endpointOf(group);
      const codec = endpoint && codecOf(endpoint);
      // The configuration may contain it again later.
      if (!endpoint || !codec) continue;
      const known = group.id === null ? await this.#found(group, endpoint, codec) : group;
      if (known) await this.#poll(known, endpoint, codec, collect);
    }
  }

  /** Requests the cancellation of all groups, whose results nothing can read any more. */
  async cancelAll(): Promise<void> {
    for (const group of this.#groups.open) {
      const endpoint = this.#endpointOf(group);
      const codec = endpoint && codecOf(endpoint);
      if (endpoint && codec && group.id !== null) await this.#ask(endpoint, codec.cancel(group.id));
    }
  }

  async #poll(
    group: VendorGroup,
    endpoint: Endpoint,
    codec: UpstreamBatches,
    collect: Parameters<VendorBatches['look']>[0],
  ): Promise<void> {
    const id = group.id ?? '';
    const results = new CollectedResults(group, (line) => this.#recordOf(group, line), endpoint);
    const { resultsIn } = codec;
    const take = (result: Buffer): Promise<void> =>
      results.add(codec.decodeResult(asObject(parseJson(result.toString()))));
    const answer = await (resultsIn
      ? askVendorBatch(endpoint, codec.get(id), resultsIn, this.#services, take)
      : this.#ask(endpoint, codec.get(id)));
    if (answer?.status === 404) return this.#refused(group, answer.text);
    if (!isGood(answer)) return;
    const batch = codec.decode(answer.body);
    if (batch.state === 'refused') return this.#refused(group, batch.problem ?? '');
    if (batch.state === 'full') return this.#resubmitLater(group, 'full');
    if (batch.state === 'running') {
      if (this.#of.stop?.type === 'end') await this.#ask(endpoint, codec.cancel(id));
      return;
    }
    this.#hasCollected = true;
    for (const path of batch.results) await this.#read(endpoint, path, take);
    results.end(batch.unanswered);
    await collect(results);
    if (this.#of.isLost || !this.#of.deps.takes()) return;
    await this.#groups.end(group, 'collected');
  }

  async #read(endpoint: Endpoint, path: string, take: (result: Buffer) => Promise<void>): Promise<void> {
    const slices = new TimeSlices();
    for await (const { bytes } of readLines(readVendorFile(endpoint, path, this.#services), Infinity)) {
      if (slices.isOver) await slices.next();
      if (bytes) await take(bytes);
    }
  }

  /** @returns the group with its id; null: still unknown, or it was never submitted */
  async #found(group: VendorGroup, endpoint: Endpoint, codec: UpstreamBatches): Promise<VendorGroup | null> {
    const { clock, log } = this.#of.deps;
    let mayBeInTransit = clock.wall() - group.at < IN_TRANSIT_MS;
    let after: string | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const answer: VendorAnswer | null = await this.#ask(endpoint, codec.list(after));
      if (!isGood(answer)) return null;
      const { batches, after: next } = codec.decodeList(answer.body);
      for (const batch of batches) {
        if (batch.createdAt < group.at - CLOCKS_MS) continue;
        const is = await this.#isOf(batch, group, endpoint, codec);
        if (is === true) return this.#groups.named(group, batch.id);
        if (is === null) mayBeInTransit = true;
      }
      after = next;
      if (after === null || batches.every(({ createdAt }) => createdAt < group.at - CLOCKS_MS)) break;
    }
    if (mayBeInTransit) return null;
    log.warn("a vendor's batch could not be submitted, and its lines are retried", {
      id: this.#of.run.job.id,
    });
    await this.#groups.end(group, 'void');
    return null;
  }

  /** True when a vendor's batch belongs to a group. Null: unknown before it has ended. */
  async #isOf(
    batch: VendorBatch,
    { token, lines }: VendorGroup,
    endpoint: Endpoint,
    codec: UpstreamBatches,
  ): Promise<boolean | null> {
    if (batch.token !== null) return batch.token === token;
    if (batch.total !== null && batch.total !== lines.length) return false;
    if (batch.state === 'running') return null;
    const [path] = batch.results;
    if (path === undefined) return false;
    try {
      for await (const { bytes } of readLines(readVendorFile(endpoint, path, this.#services), Infinity)) {
        const result = bytes && codec.decodeResult(asObject(parseJson(bytes.toString())));
        return result?.lineId.startsWith(`${token}-`) === true;
      }
    } catch {
      return null;
    }
    return false;
  }

  async #submit({ endpoint, path, lines }: Gathered): Promise<void> {
    const { clock, log } = this.#of.deps;
    const codec = codecOf(endpoint);
    if (!codec) return;
    const ordered = lines.toSorted((one, other) => one.number - other.number);
    const { slug, modelId, protocol } = endpoint;
    const numbers = ordered.map(({ number }) => number);
    const group = await this.#groups.add({ slug, modelId, protocol, path, at: clock.wall(), lines: numbers });
    const { token } = group;
    const encoded: string[] = [];
    const slices = new TimeSlices();
    for (const { number, body } of ordered) {
      if (slices.isOver) await slices.next();
      encoded.push(codec.encodeLine(`${token}-${number}`, path, body.toString()));
    }
    let file: string | null = null;
    if (codec.upload) {
      const uploaded = await this.#ask(endpoint, codec.upload(encoded, token));
      const id = uploaded?.body['id'];
      if (isGood(uploaded) && typeof id === 'string') file = id;
      // An unused file costs nothing.
      else return this.#notSubmitted(group, uploaded);
    }
    const made = await this.#ask(endpoint, codec.create({ lines: encoded, file, path, token }));
    if (made !== null && made.status < 300) {
      await this.#groups.named(group, codec.decode(made.body).id);
      return;
    }
    // The outcome is unknown: the batch is searched for rather than submitted again.
    if (made === null || made.status >= 500)
      log.warn('a batch was submitted, but its vendor did not confirm it', { id: this.#of.run.job.id, slug });
    else await this.#notSubmitted(group, made);
  }

  /** Handles a group that the vendor does not have. */
  async #notSubmitted(group: VendorGroup, answer: VendorAnswer | null): Promise<void> {
    const status = answer?.status ?? 0;
    if (answer && status >= 400 && status < 500 && status !== 429) await this.#refused(group, answer.text);
    else await this.#resubmitLater(group, status === 429 ? 'full' : 'void');
  }

  /** Returns its lines, which are submitted again later. */
  async #resubmitLater(group: VendorGroup, end: 'full' | 'void'): Promise<void> {
    this.#nextPollMs ??= this.#of.deps.settings().vendorPollMs;
    await this.#groups.end(group, end);
  }

  async #refused(group: VendorGroup, problem: string): Promise<void> {
    const { log, engine } = this.#of.deps;
    const words = engine.redact(problem);
    log.warn('a vendor rejected a batch: its lines are sent as single requests', {
      slug: group.slug,
      error: words,
    });
    this.#nextPollMs = SOON_MS;
    await this.#groups.end(group, 'refused');
  }

  /** The group's endpoint in the current configuration. */
  #endpointOf({ modelId, slug, protocol }: VendorGroup): Endpoint | undefined {
    const model = this.#of.deps.engine.settings().catalog.find(modelId);
    if (!model) return undefined;
    const all = [...endpointsFor(model, { protocol }), ...model.endpoints];
    return all.find((each) => each.slug === slug && each.protocol === protocol);
  }

  #recordOf({ at, token }: VendorGroup, line: number): Pick<AnsweredLine, 'recordId' | 'createdAt'> {
    const time = at.toString(16).padStart(12, '0');
    const hash = createHash('sha256').update(`${this.#of.batch.id}:${token}:${line}`).digest('hex');
    return { recordId: time + hash.slice(0, 20), createdAt: at };
  }

  get #services() {
    return this.#of.deps.engine;
  }

  #ask(endpoint: Endpoint, operation: Parameters<typeof askVendor>[1]): Promise<VendorAnswer | null> {
    return askVendor(endpoint, operation, this.#services);
  }
}

function codecOf(endpoint: Endpoint): UpstreamBatches | undefined {
  return findProtocol(endpoint.protocol)?.upstream.batches;
}

function isGood(answer: VendorAnswer | null): answer is VendorAnswer {
  return answer !== null && answer.status < 300;
}

/** Thrown instead of sending a request. */
export const DEFERRED = new GatewayError('cancelled', "The line will be sent to its vendor's batch API.", {
  fault: 'gateway',
  code: 'deferred',
});
