// Calls that users approved, with their outcomes. An approval is valid for one call, even if the request is repeated
// because its answer was lost. Kept in memory; a failed call may be approved again. A digest that the call was made is
// kept longer than its outcome, which may be large.
import { createHash } from 'node:crypto';
import type { HostedFacts } from '../../canonical/index.ts';
import { type CallOutcome, type GatewayCall, said } from '../tools/gateway-tool.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface ApprovedCallsLimits {
  /** Maximum bytes of all outcomes. */
  readonly maxBytes: number;
  /** Maximum bytes of one project's outcomes. */
  readonly maxProjectBytes: number;
  /** Milliseconds for which an outcome is kept after its end. */
  readonly outcomeMs: DurationMs;
  /** Maximum digests of calls that were made. */
  readonly mostMade: number;
}

const LIMITS: ApprovedCallsLimits = {
  maxBytes: 32 * 1_048_576,
  maxProjectBytes: 8 * 1_048_576,
  outcomeMs: 10 * 60_000,
  mostMade: 10_000,
};

/** An outcome as JSON, whose length counts against the limits. */
interface KeptOutcome {
  readonly projectId: string;
  readonly json: Buffer;
  readonly until: UnixMs;
}

export class ApprovedCalls {
  readonly #now: () => UnixMs;
  readonly #limits: ApprovedCallsLimits;
  /** Bounded by the number of running requests. */
  readonly #running = new Map<string, Promise<CallOutcome>>();
  /** Digests, oldest first. */
  readonly #made = new Set<string>();
  /** By digest, oldest first. */
  readonly #kept = new Map<string, KeptOutcome>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(now: () => UnixMs, limits = LIMITS) {
    this.#now = now;
    this.#limits = limits;
  }

  /**
   * Makes the call, or returns the outcome if it was made before.
   * @param projectId tenant; calls of different projects are distinct
   */
  make(projectId: string, call: GatewayCall, signal: AbortSignal): Promise<CallOutcome> {
    this.#expire();
    // Items come from clients, so a changed call is a different call.
    const digest = createHash('sha256')
      .update(JSON.stringify([projectId, call.facts]))
      .digest('base64');
    const running = this.#running.get(digest);
    if (running) return running;
    if (this.#made.has(digest)) return Promise.resolve(this.#earlier(digest, call.facts));
    const outcome = this.#run(projectId, digest, call, signal);
    this.#running.set(digest, outcome);
    return outcome;
  }

  async #run(
    projectId: string,
    digest: string,
    call: GatewayCall,
    signal: AbortSignal,
  ): Promise<CallOutcome> {
    try {
      const outcome = await call.run(signal);
      if (!outcome.isError) this.#keep(projectId, digest, outcome);
      return outcome;
    } finally {
      this.#running.delete(digest);
    }
  }

  #earlier(digest: string, facts: HostedFacts): CallOutcome {
    const kept = this.#kept.get(digest);
    return kept ? (JSON.parse(kept.json.toString()) as CallOutcome) : said(FORGOTTEN, forgotten(facts));
  }

  #keep(projectId: string, digest: string, { facts, parts, isError }: CallOutcome): void {
    const { maxBytes, maxProjectBytes, outcomeMs, mostMade } = this.#limits;
    this.#made.add(digest);
    const [oldest] = this.#made;
    if (this.#made.size > mostMade && oldest !== undefined) {
      this.#made.delete(oldest);
      this.#drop(oldest);
    }
    // Usage was charged when the call was made.
    const json = Buffer.from(JSON.stringify({ facts, parts, isError, uses: {} } satisfies CallOutcome));
    if (json.length > maxProjectBytes) return;
    this.#kept.set(digest, { projectId, json, until: this.#now() + outcomeMs });
    this.#addBytes(projectId, json.length);
    for (const [other, kept] of this.#kept) {
      const isOver = this.#bytes > maxBytes;
      const isProjectOver = (this.#bytesOf.get(projectId) ?? 0) > maxProjectBytes;
      if (!isOver && !isProjectOver) break;
      if (isOver || kept.projectId === projectId) this.#drop(other);
    }
  }

  /** All have the same lifetime, so the oldest expire first. */
  #expire(): void {
    const now = this.#now();
    for (const [digest, { until }] of this.#kept) {
      if (until > now) return;
      this.#drop(digest);
    }
  }

  #drop(digest: string): void {
    const kept = this.#kept.get(digest);
    if (!kept) return;
    this.#kept.delete(digest);
    this.#addBytes(kept.projectId, -kept.json.length);
  }

  #addBytes(projectId: string, bytes: number): void {
    this.#bytes += bytes;
    const left = (this.#bytesOf.get(projectId) ?? 0) + bytes;
    if (left > 0) this.#bytesOf.set(projectId, left);
    else this.#bytesOf.delete(projectId);
  }
}

const FORGOTTEN = 'This call was approved and executed before. Its result is no longer stored.';

function forgotten(facts: HostedFacts): HostedFacts {
  return facts.type === 'mcp' ? { ...facts, output: FORGOTTEN } : facts;
}
