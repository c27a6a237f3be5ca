// A request whose answer comes as a whole, as it is tried at one candidate after the other. What an upstream made stands beside
// the canonical events, which carry what every attempt is judged and charged by. Knows no task by name.
import {
  addUsage,
  type EventSink,
  GatewayError,
  inputTokens,
  type Report,
  type Usage,
} from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol, type Protocol, type TaskUpstream } from '../../protocols/index.ts';
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
import { runParts } from './run-parts.ts';
import { operationPath } from '../prepared-endpoint.ts';
import { slicesOf } from '../../base/lib/slices.ts';
import type { WholeParts } from './whole-parts.ts';

export interface WholeInput<Asked, Made> {
  readonly task: WholeParts<Asked, Made>;
  readonly planned: Planned;
  readonly attemptLog: AttemptLog;
  readonly deps: GatewayDependencies;
  /** Never empty. */
  readonly asked: readonly Asked[];
  /** Tokens of all of it, by estimate. */
  readonly tokens: number;
}

/** A complete answer, in the form that was asked for. */
export interface WholeAnswer<Made> extends PartAnswer<Made> {
  /** Endpoints that made its parts, in their order. */
  readonly by: readonly [Attempt, ...Attempt[]];
  /** Losses on the way. */
  readonly report: Report;
}

interface PartAnswer<Made> {
  readonly made: Made;
  readonly usage: Usage;
}

/** An endpoint, and the form in which it is asked. */
interface Server<Asked, Made> {
  readonly endpoint: Endpoint;
  readonly protocol: Protocol;
  readonly upstream: TaskUpstream<Asked, Made>;
}

/** One upstream request of a try. */
interface PartTry<Asked, Made> extends Server<Asked, Made> {
  /** Among all of the try. */
  readonly place: number;
  readonly part: Asked;
  readonly body: string;
  readonly report: Report;
}

export class WholeTrial<Asked, Made> implements Trial {
  readonly #input: WholeInput<Asked, Made>;
  #answer: WholeAnswer<Made> | undefined;

  constructor(input: WholeInput<Asked, Made>) {
    this.#input = input;
  }

  /** Undefined while there is none. */
  get answer(): WholeAnswer<Made> | undefined {
    return this.#answer;
  }

  get committed(): boolean {
    return this.#answer !== undefined;
  }

  neededTokens(): number {
    return this.#input.tokens;
  }

  learn(): boolean {
    return false;
  }

  /** A committed answer is complete. */
  resume(_: Candidate, error: GatewayError): Promise<GatewayError> {
    return Promise.resolve(error);
  }

  /** As many upstream requests as the model needs for all inputs. */
  async try({ endpoint }: Candidate, { cancellation, claim }: TryTerms): Promise<GatewayError | undefined> {
    const { task, planned, asked } = this.#input;
    const server = serverAt(endpoint, task);
    const { upstream } = server;
    const report = planned.request.report.fork();
    const most = upstream.mostInputs?.(endpoint.model);
    const parts = asked
      .flatMap((one) => (most === undefined ? [one] : task.split(one, most)))
      .map((part, place): PartTry<Asked, Made> => {
        const body = JSON.stringify(upstream.encodeRequest(part, endpoint, report));
        return { ...server, place, part, body, report };
      });
    if (planned.strict) refuseLosses(report);
    const answered: { readonly by: Attempt; readonly answer: PartAnswer<Made> }[] = [];
    let missing = parts.length;
    return runParts(parts, cancellation, (one, own) =>
      this.#part(one, own, (by, answer) => {
        answered[one.place] = { by, answer };
        if (--missing > 0) return;
        claim?.();
        const [first = by, ...others] = answered.map((each) => each.by);
        const made = task.join(answered.map((each) => each.answer.made));
        const usage = addUsage(answered.map((each) => each.answer.usage));
        this.#answer = { made, usage, by: [first, ...others], report };
      }),
    );
  }

  async #part(
    { part, body, endpoint, protocol, upstream, report }: PartTry<Asked, Made>,
    cancellation: Cancellation,
    commit: (by: Attempt, answer: PartAnswer<Made>) => void,
  ): Promise<GatewayError | undefined> {
    const { task, planned, attemptLog, deps } = this.#input;
    const { name } = task.facts;
    let answer: PartAnswer<Made> | undefined;
    const prepared: PreparedAttempt = {
      endpoint,
      path: pathOf(endpoint, upstream, task),
      protocol: answeredWhole(protocol, endpoint, name, (json, sink) => {
        const made = upstream.decodeResponse(json, part, endpoint);
        answer = { made: task.read(made, part), usage: task.charge(made) ?? task.estimate(part) };
        sink.on({ type: 'start' });
        sink.on({ type: 'usage', usage: answer.usage });
        sink.on({ type: 'finish', reason: 'stop' });
      }),
      lane: 'translate',
      request: planned.request,
      body: slicesOf(body),
      report,
      isListPriced: true,
      passedHeaders: undefined,
      wrap: (innermost) => innermost,
      estimateInput: () => inputTokens(task.estimate(part)),
    };
    const output = outputTo((by) => {
      if (answer) commit(by, answer);
    });
    const input = { requester: planned, prepared, output, collects: false };
    const { failure } = await runAttempt(input, attemptLog, cancellation, deps);
    return failure;
  }
}

/** Path of the task below the endpoint's base URL: that of its host, of its provider, or of the protocol. */
export function pathOf<Asked, Made>(
  endpoint: Endpoint,
  upstream: TaskUpstream<Asked, Made>,
  { facts: { name } }: WholeParts<Asked, Made>,
): string {
  const own = endpoint.hosting?.tasks?.[name] ?? endpoint.tasks?.[name];
  return operationPath(endpoint, upstream.pathFor(endpoint.model), own);
}

/** A host that serves a protocol for its owner may do a task in another form, or not at all. */
export function serverAt<Asked, Made>(
  endpoint: Endpoint,
  { facts: { name }, codecs }: WholeParts<Asked, Made>,
): Server<Asked, Made> {
  const protocol = findProtocol(endpoint.protocol);
  const codec = codecs.find(({ protocols }) => protocols.includes(endpoint.protocol));
  const upstream =
    endpoint.hosting === undefined
      ? codec?.upstream
      : endpoint.hosting.tasks?.[name] && (codec?.hosted ?? codec?.upstream);
  if (protocol && upstream) return { endpoint, protocol, upstream };
  throw new GatewayError(
    'unsupported',
    `${endpoint.slug} serves ${endpoint.model} over ${endpoint.protocol}, which has no ${name}` +
      (codec ? ' there' : ''),
    { param: 'model' },
  );
}

/** The protocol as an attempt speaks it: the same errors and limits, another answer. */
function answeredWhole(
  { name, upstream }: Protocol,
  endpoint: Endpoint,
  task: string,
  decode: (body: unknown, sink: EventSink) => void,
): Protocol {
  return {
    name,
    upstream: {
      ...upstream,
      decodeResponse: decode,
      decodeStream: () => {
        throw new GatewayError(
          'upstream_unavailable',
          `${endpoint.slug} streamed something instead of ${task}`,
        );
      },
    },
  };
}

/** An output for answers that come at once: only who made them matters. */
function outputTo(commit: (by: Attempt) => void): AttemptOutput {
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
