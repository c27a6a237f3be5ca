// Tries a codec task's request at several candidates. Results are kept beside the canonical events, by which every
// attempt is judged and charged.
import {
  addUsage,
  type EventSink,
  GatewayError,
  inputTokens,
  type Report,
  type Usage,
} from '../../canonical/index.ts';
import type { PieceSink } from '../../protocols/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { Candidate } from '../routing/index.ts';
import {
  type Attempt,
  type AttemptOutput,
  type PreparedAttempt,
  refuseLosses,
  runAttempt,
} from '../attempt/index.ts';
import type { Planned } from '../admit/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Trial, TryTerms } from '../failover/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { concurrently } from '../concurrently.ts';
import type { TaskParts } from './task-parts.ts';
import { bodyOf, pathOf, serverAt, speaking, type TaskServer } from './task-server.ts';
import type { StreamedTask } from './streamed-task.ts';

/** Maximum concurrent parts of one request; more would only exceed the upstream's limits. */
const MOST_AT_ONCE = 8;

export interface TrialInput<Asked, Made> {
  readonly task: TaskParts<Asked, Made>;
  readonly planned: Planned;
  readonly attemptLog: AttemptLog;
  readonly deps: GatewayDependencies;
  /** Never empty; exactly one if the answer is streamed. */
  readonly asked: readonly Asked[];
  /** Estimated tokens of all parts. */
  readonly tokens: number;
  /** Receives the pieces of a streamed answer. Undefined: the client gets a whole answer. */
  readonly stream: StreamedTask<Made> | undefined;
}

/** A complete answer in the requested form. */
export interface TaskResult<Made> extends PartResult<Made> {
  /** Attempts that made its parts, in order. */
  readonly by: readonly [Attempt, ...Attempt[]];
  /** Losses in translation. */
  readonly report: Report;
}

interface PartResult<Made> {
  readonly made: Made;
  readonly usage: Usage;
}

/** One upstream request of a try. */
interface PartTry<Asked, Made> {
  readonly server: TaskServer<Asked, Made>;
  /** Index among all parts of the try. */
  readonly place: number;
  readonly part: Asked;
  readonly sent: { readonly body: Slices; readonly type?: string };
  readonly report: Report;
}

export class TaskTrial<Asked, Made> implements Trial {
  readonly #input: TrialInput<Asked, Made>;
  #result: TaskResult<Made> | undefined;

  constructor(input: TrialInput<Asked, Made>) {
    this.#input = input;
  }

  /** Undefined: none yet. */
  get result(): TaskResult<Made> | undefined {
    return this.#result;
  }

  get committed(): boolean {
    return this.#result !== undefined || this.#input.stream?.by !== undefined;
  }

  neededTokens(): number {
    return this.#input.tokens;
  }

  learn(): boolean {
    return false;
  }

  /** A committed answer is complete, or its client has received the error. */
  resume(_: Candidate, error: GatewayError): Promise<GatewayError> {
    return Promise.resolve(error);
  }

  /** Sends as many requests as the model needs for all inputs. */
  async try({ endpoint }: Candidate, { cancellation, claim }: TryTerms): Promise<GatewayError | undefined> {
    const { task, planned, asked, stream } = this.#input;
    const server = serverAt(endpoint, task);
    const report = planned.request.report.fork();
    const most = stream ? undefined : server.upstream.mostInputs?.(endpoint.model);
    const parts = asked
      .flatMap((one) => (most === undefined ? [one] : task.split(one, most)))
      .map((part, place): PartTry<Asked, Made> => {
        return { server, place, part, sent: bodyOf(server, part, report), report };
      });
    if (planned.strict) refuseLosses(report);
    const answered: { readonly by: Attempt; readonly result: PartResult<Made> }[] = [];
    let missing = parts.length;
    return runParts(parts, cancellation, (one, own) =>
      this.#part(one, own, claim, (by, result) => {
        answered[one.place] = { by, result };
        if (--missing > 0) return;
        if (!stream) claim?.();
        const [first = by, ...others] = answered.map((each) => each.by);
        const made = task.join(answered.map((each) => each.result.made));
        const usage = addUsage(answered.map((each) => each.result.usage));
        this.#result = { made, usage, by: [first, ...others], report };
      }),
    );
  }

  async #part(
    { part, sent, server, report }: PartTry<Asked, Made>,
    cancellation: Cancellation,
    claim: (() => void) | undefined,
    answered: (by: Attempt, result: PartResult<Made>) => void,
  ): Promise<GatewayError | undefined> {
    const { task, planned, attemptLog, deps, stream } = this.#input;
    let result: PartResult<Made> | undefined;
    const finish = (made: Made, events: EventSink): void => {
      result = { made, usage: task.charge(made) ?? task.estimate(part) };
      events.on({ type: 'usage', usage: result.usage });
      events.on({ type: 'finish', reason: 'stop' });
    };
    const prepared: PreparedAttempt = {
      ...sent,
      endpoint: server.endpoint,
      path: pathOf(server, task),
      protocol: speaking(server, part, task.facts.name, {
        whole: (given, events) => {
          const made = task.read(given, part);
          events.on({ type: 'start' });
          if (stream) events.on({ type: 'piece', piece: made, chars: task.chars?.(made) ?? 0 });
          finish(made, events);
        },
        pieces: (events) => piecesOf(task, part, events, finish),
      }),
      lane: 'translate',
      request: planned.request,
      report,
      isListPriced: true,
      passedHeaders: undefined,
      wrap: (innermost) => innermost,
      estimateInput: () => inputTokens(task.estimate(part)),
    };
    // For a stream, the try that commits wins. For a whole answer, its last part decides.
    const output = stream ?? wholeOutput((by) => result && answered(by, result));
    const own = stream ? claim : undefined;
    const input = { requester: planned, prepared, output, collects: false, claim: own };
    const attempt = await runAttempt(input, attemptLog, cancellation, deps);
    if (stream && result && !attempt.failure) answered(attempt, result);
    return attempt.failure;
  }
}

/** Converts the pieces of a stream to events. Joined, they are the answer. */
function piecesOf<Asked, Made>(
  task: TaskParts<Asked, Made>,
  asked: Asked,
  events: EventSink,
  finish: (made: Made, events: EventSink) => void,
): PieceSink<Made> {
  const all: Made[] = [];
  let isOver = false;
  const last = (end: () => void): void => {
    if (isOver) return;
    isOver = true;
    end();
  };
  return {
    piece(given) {
      if (isOver) return;
      const made = task.read(given, asked);
      if (all.length === 0) events.on({ type: 'start' });
      all.push(made);
      events.on({ type: 'piece', piece: made, chars: task.chars?.(made) ?? 0 });
    },
    finish: () => last(() => finish(task.join(all), events)),
    error: (error) => last(() => events.on({ type: 'error', error })),
  };
}

/**
 * Runs the parts of a try with limited concurrency; the first failure cancels all.
 * @param cancellation of the whole try
 * @param run runs one part to its answer or failure; called in order. A rejection is a failure
 * @returns the first failure; undefined: all have answered
 */
function runParts<Part>(
  parts: readonly Part[],
  cancellation: Cancellation,
  run: (part: Part, own: Cancellation) => Promise<GatewayError | undefined>,
): Promise<GatewayError | undefined> {
  return cancellation.within(async (own) => {
    let failure: GatewayError | undefined;
    await concurrently(parts, MOST_AT_ONCE, async (part) => {
      if (own.reason) return;
      const error = await run(part, own).catch(GatewayError.from);
      if (!error || own.reason) return;
      failure = error;
      own.cancel(new GatewayError('cancelled', 'Another part of the request failed.'));
    });
    return failure ?? own.reason;
  });
}

/** Output for whole answers, which only notes the attempt. */
function wholeOutput(commit: (by: Attempt) => void): AttemptOutput {
  const nothing = (): void => {};
  return {
    keeps: true,
    commit,
    on: nothing,
    relay: nothing,
    relayWhole: nothing,
    finishing: nothing,
    flush: nothing,
  };
}
