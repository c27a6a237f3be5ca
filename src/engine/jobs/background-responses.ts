// Background answers as clients see them: submitted, read while running, cancelled and deleted. Jobs make them.
import type { JsonObject } from '../../base/json/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { type CanonicalRequest, GatewayError, TEXTS, notFound } from '../../canonical/index.ts';
import {
  type Job,
  type JobView,
  PRIORITY,
  type Storage,
  type StoredResponse,
} from '../../accounts/ports/index.ts';
import type { AnswerContext, BackgroundCodec } from '../../protocols/index.ts';
import { decodeCall, previousItems, routeRequest } from '../admit/index.ts';
import type { Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { expiryOf } from '../settings.ts';
import { type KeptStream, type KeptStreams, requireWhole } from '../streams/index.ts';
import { ANSWER_KIND, type AnswerPayload, decodeResult } from './answer-job.ts';
import { type AnswerRecord, findAnswerRecord } from './answer-record.ts';
import type { JobRunner, JobRunnerOptions } from './job-runner.ts';
import { endUnbegun, neverBegun, openedStream, openStream } from './job-stream.ts';
import type { WholeResult } from './whole-client.ts';
import { callPayload, decodePayload, RESPONSE_KIND, currentStored } from './response-job.ts';
import type { DurationMs } from '../../base/units.ts';

/** Milliseconds for which an answer is kept when its client does not want it stored. */
const TEMPORARY_MS = 600_000;
/** Milliseconds to wait for the end of a cancelled job, and the poll interval. */
const CANCEL_MS = 3_000;
const LOOK_MS = 50;
/**
 * Keep-alive interval for readers of a queued answer's stream, in milliseconds, so that proxies do not close the
 * connection.
 */
const QUIET_MS = 10_000;
const KEEP_ALIVE = ': keep-alive\n\n';

export interface BackgroundDependencies {
  readonly engine: GatewayDependencies;
  readonly storage: Pick<Storage, 'jobs' | 'responses' | 'conversations'>;
  readonly runner: Pick<JobRunner, 'owner' | 'wake' | 'cancel'>;
  /** Jobs that are added when a job ends without having run. */
  readonly following: NonNullable<JobRunnerOptions['following']>;
  readonly streams: KeptStreams;
  readonly settings: () => {
    readonly isTemporaryAllowed: boolean;
    readonly maxOpen: number;
    /** Weight of a project among those that are queued. */
    readonly weightOf: (projectId: string) => number;
    /** See `JobRunnerOptions`. */
    readonly keepMs: DurationMs | null;
  };
  readonly clock: Clock;
}

export class BackgroundResponses {
  readonly #deps: BackgroundDependencies;
  /** Streams of answers that had not begun at the last check, by job id. */
  readonly #quiet = new Map<string, KeptStream>();
  #isChecking = false;

  constructor(deps: BackgroundDependencies) {
    this.#deps = deps;
  }

  /**
   * Queues the answer to a request and responds to its client. Throws the GatewayError with which the request itself
   * would be refused.
   */
  async submit(arrival: Arrival): Promise<void> {
    const { engine, storage, runner, settings } = this.#deps;
    const { call, id } = arrival;
    const codec = call.protocol.server.background;
    if (!codec) throw new TypeError(TEXTS.noBackground(call.protocol.name));
    const request = await decodeCall(arrival, engine);
    const { state } = request;
    const { projectId, keyId } = call.principal;
    const isStored = state?.store !== false;
    if (!isStored && !settings().isTemporaryAllowed)
      throw new GatewayError(
        'invalid_request',
        '`background` requires `store`. Set `store` to true, or omit it.',
        { param: 'store' },
      );
    const model = this.#plan(arrival, request);
    await this.#requireNamed(projectId, state ?? {});
    const context: AnswerContext = {
      id,
      createdSeconds: Math.floor(arrival.createdAt / 1000),
      model,
      request,
      reasoningContentMirror: false,
    };
    const queued = codec.queued(context);
    const expiresAt = isStored
      ? expiryOf(arrival.settings, arrival.createdAt)
      : arrival.createdAt + TEMPORARY_MS;
    const job = await storage.jobs.add(
      {
        id: String(queued['id']),
        kind: RESPONSE_KIND,
        projectId,
        keyId,
        priority: PRIORITY.background,
        weight: settings().weightOf(projectId),
        lane: state?.conversationId ?? null,
        home: request.stream ? runner.owner : null,
        payload: JSON.stringify({ ...callPayload(call, request.model, id, arrival.createdAt), queued }),
        expiresAt,
      },
      settings().maxOpen,
    );
    this.#respond(arrival, job, queued, request.stream, codec);
    runner.wake();
  }

  /**
   * Queues an asynchronous request and tells its client where the answer will be. Throws the GatewayError with which
   * the request itself would be refused.
   */
  async submitWhole(arrival: Arrival): Promise<void> {
    const { engine, storage, runner, settings } = this.#deps;
    const { call, id, createdAt } = arrival;
    const request = await decodeCall(arrival, engine);
    requireWhole(call);
    this.#plan(arrival, request);
    const payload: AnswerPayload = {
      ...callPayload(call, request.model, id, createdAt),
      route: call.route ?? null,
    };
    await storage.jobs.add(
      {
        id,
        kind: ANSWER_KIND,
        projectId: call.principal.projectId,
        keyId: call.principal.keyId,
        priority: PRIORITY.background,
        weight: settings().weightOf(call.principal.projectId),
        lane: null,
        home: null,
        payload: JSON.stringify(payload),
        expiresAt: expiryOf(arrival.settings, createdAt),
      },
      settings().maxOpen,
    );
    const headers = {
      'x-request-id': id,
      'request-id': id,
      'content-type': 'application/json',
      'preference-applied': 'respond-async',
      location: resultPath(id),
    };
    call.client.respond(202, headers, JSON.stringify({ id, object: 'generation.result', status: 'queued' }));
    runner.wake();
  }

  /** The whole answer of a finished job. Null: it is not stored. */
  async result(projectId: string, id: string): Promise<WholeResult | null> {
    const bytes = await this.#deps.storage.jobs.stream(projectId, id);
    return bytes && decodeResult(bytes);
  }

  /** Plans the endpoints. Throws GatewayError when none is usable. */
  #plan(arrival: Arrival, request: CanonicalRequest): string {
    const { engine, clock } = this.#deps;
    const plan = routeRequest(request, {
      settings: arrival.settings,
      principal: arrival.call.principal,
      state: engine.routing,
      limits: engine.limits,
      tasks: engine.tasks,
      nowMs: clock.now(),
      inputChars: arrival.inputChars,
      peek: true,
    });
    return plan.candidates[0]?.endpoint.modelId ?? request.model;
  }

  #respond(
    { call, id }: Arrival,
    job: JobView,
    queued: JsonObject,
    isStreamed: boolean,
    codec: BackgroundCodec,
  ): void {
    if (isStreamed) {
      const stream = openStream(job, { id, queued }, codec, this.#deps);
      this.#quiet.set(job.id, stream);
      return stream.join(call.client, null);
    }
    const headers = { 'x-request-id': id, 'request-id': id, 'content-type': 'application/json' };
    call.client.respond(200, headers, JSON.stringify(queued));
  }

  /** Throws GatewayError when the response or conversation that the request continues does not exist. */
  async #requireNamed(
    projectId: string,
    {
      previousResponseId,
      conversationId,
    }: { previousResponseId?: string | undefined; conversationId?: string | undefined },
  ): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.wall();
    if (conversationId !== undefined && !(await storage.conversations.find(projectId, conversationId, now)))
      throw notFound('Conversation', conversationId, 'conversation');
    if (previousResponseId === undefined) return;
    const job = await storage.jobs.find(projectId, previousResponseId);
    if (job && isOpen(job))
      throw new GatewayError(
        'invalid_request',
        `Previous response with id '${previousResponseId.slice(0, 100)}' is still in progress. Wait until it has ended.`,
        { param: 'previous_response_id', code: 'previous_response_in_progress' },
      );
    await previousItems(previousResponseId, { responses: storage.responses, projectId, now });
  }

  /** Current state of an answer that is not or will never be stored. Null: there is none. */
  async find(projectId: string, id: string): Promise<StoredResponse | null> {
    const job = await this.#job(projectId, id);
    return job?.kind === RESPONSE_KIND ? currentStored(job, decodePayload(job.payload)) : null;
  }

  /**
   * The record of an answer, however it was made.
   * @param wanted number of a try; undefined: the latest with a record
   * @returns null when the project has none. Throws GatewayError `not_found` for a try without a record
   */
  record(projectId: string, id: string, wanted?: number): Promise<AnswerRecord | null> {
    const { engine, storage } = this.#deps;
    return findAnswerRecord(id, projectId, wanted, { jobs: storage.jobs, ledger: engine.ledger });
  }

  /** The job of an answer. Null: there is none. */
  job(projectId: string, id: string): Promise<JobView | null> {
    return this.#job(projectId, id);
  }

  async #job(projectId: string, id: string): Promise<Job | null> {
    const { storage, clock } = this.#deps;
    const job = await storage.jobs.find(projectId, id);
    return job && (job.expiresAt === null || job.expiresAt > clock.wall()) ? job : null;
  }

  /** The stream of a finished answer. Null: it is not stored. */
  async stream(projectId: string, id: string): Promise<KeptStream | null> {
    const { jobs } = this.#deps.storage;
    const bytes = await jobs.stream(projectId, id);
    if (bytes) return openedStream(bytes);
    const job = await jobs.find(projectId, id);
    if (!job || job.endedAt === null || job.state === 'completed') return null;
    // The job ended before it began.
    return neverBegun(job, decodePayload(job.payload));
  }

  /** Cancels an answer and briefly waits for its end. False: the project has no such answer. */
  async cancel(projectId: string, id: string): Promise<boolean> {
    const { storage, runner, following, settings, clock } = this.#deps;
    const asked = await storage.jobs.find(projectId, id);
    if (!asked) return false;
    const before = clock.now();
    const added = isOpen(asked) ? await following.jobsOf(asked, { state: 'cancelled' }) : [];
    let job: JobView | null = await storage.jobs.cancel(id, { following: added, keepMs: settings().keepMs });
    if (added.length > 0) following.added();
    runner.cancel(id);
    while (job && isOpen(job) && clock.now() - before < CANCEL_MS) {
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
      job = await storage.jobs.find(projectId, id);
    }
    await this.#checkQuiet(id);
    return true;
  }

  /** Sends keep-alives to streams of queued answers, and ends those whose job ended without a run. */
  start(): () => void {
    return this.#deps.clock.every(QUIET_MS, () => {
      for (const stream of this.#quiet.values()) if (!hasBegun(stream)) stream.writeKeepAlive(KEEP_ALIVE);
      void this.#checkAllQuiet();
    });
  }

  /** Checks one after the other, so that thousands do not occupy the database. */
  async #checkAllQuiet(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      for (const jobId of this.#quiet.keys()) await this.#checkQuiet(jobId);
    } catch {
      // The next check retries. Others report that the database is away.
    } finally {
      this.#isChecking = false;
    }
  }

  async #checkQuiet(jobId: string): Promise<void> {
    const stream = this.#quiet.get(jobId);
    if (!stream) return;
    const job = hasBegun(stream) ? null : await this.#deps.storage.jobs.find(stream.projectId, jobId);
    if (job && isOpen(job)) return;
    this.#quiet.delete(jobId);
    // The run may have begun in the meantime.
    if (!hasBegun(stream)) endUnbegun(stream, job);
  }

  /** Cancels the answer and deletes it. False: the project has no such answer. */
  async delete(projectId: string, id: string): Promise<boolean> {
    if (!(await this.cancel(projectId, id))) return false;
    return this.#deps.storage.jobs.delete(projectId, id);
  }
}

/** Path of an asynchronous answer. */
export function resultPath(id: string): string {
  return `/v1/generations/${id}/result`;
}

/** True once a run has written to the stream. */
function hasBegun(stream: KeptStream): boolean {
  return stream.hasEnded || stream.next > stream.first + stream.opening;
}

function isOpen({ state }: JobView): boolean {
  return state === 'queued' || state === 'waiting' || state === 'running';
}
