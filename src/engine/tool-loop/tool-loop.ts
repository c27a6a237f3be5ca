// Runs gateway tools between the turns of a model and presents the turns as one answer. Each turn is tried like a
// separate request, and its tools run concurrently. Tool failures are reported to the model.
import type {
  CanonicalRequest,
  FinishEvent,
  HostedFacts,
  Item,
  ToolChoice,
  ToolResultItem,
} from '../../canonical/index.ts';
import { GatewayError, outputTokens, OWN_PATH } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate, Plan } from '../routing/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import { type CallOutcome, cutFacts, failedFacts, type GatewayCall, said } from '../tools/gateway-tool.ts';
import type { ApprovedCalls } from './approved-calls.ts';
import type { Attempt } from '../attempt/index.ts';
import { CallGate } from './call-gate.ts';
import type { ClientAnswer } from '../answer/index.ts';
import type { Answered } from '../answered.ts';
import { Cancellation } from '../cancellation.ts';
import type { Planned } from '../admit/index.ts';
import { concurrently } from '../concurrently.ts';
import type { ApprovedCall, ToolRegistry } from './tool-registry.ts';
import { type TextInput, tryForText } from '../failover/index.ts';
import { type EndedTurn, type HostedCall, showWhole, type TurnHost, TurnOutput } from './turn-output.ts';
import type { DurationMs } from '../../base/units.ts';

/** Maximum turns; the last one must answer without tools. */
const MOST_TURNS = 24;
/** Maximum concurrent tool calls of one answer. */
const CALLS_AT_ONCE = 8;
/** Minimum remaining tokens for another turn. */
const FEWEST_TOKENS = 16;

export interface ToolLoopInput extends Omit<TextInput, 'answer' | 'fit' | 'translate'> {
  readonly answer: ClientAnswer;
  readonly registry: ToolRegistry;
  readonly approved: ApprovedCalls;
}

/** A finished call and its outcome. */
interface Made {
  readonly call: HostedCall;
  readonly outcome: Pick<CallOutcome, 'parts' | 'isError'>;
}

export class ToolLoop implements TurnHost {
  readonly client: ClientAnswer;
  readonly streamed: boolean;
  readonly #input: ToolLoopInput;
  /** Cancels running tools at the deadline and at the end. */
  readonly #stop = new Cancellation();
  /** Attempts that answered the earlier turns. */
  readonly #earlier: Attempt[] = [];
  /** Number of items in the answer so far. */
  #items = 0;
  readonly #gate: CallGate;
  /** Output tokens of earlier turns. */
  #produced = 0;
  /** Finished calls that a user had approved before this answer began. */
  readonly #allowed: HostedFacts[] = [];
  /** The same calls, by id of the approval request, so that they are made once for all endpoints. */
  readonly #allowing = new Map<string, Promise<void>>();
  /** True in a turn whose tool calls are no longer made. */
  #isLastTurn = false;
  /** Items shown to the client before a turn. */
  readonly #announced = new Set<HostedFacts>();

  constructor(input: ToolLoopInput) {
    this.#input = input;
    this.client = input.answer;
    const { request, arrival } = input.planned;
    this.streamed = request.stream;
    this.#gate = new CallGate(request.state?.maxToolCalls, arrival.call.account);
  }

  get sources(): ToolRegistry['sources'] {
    return this.#input.registry.sources;
  }

  async run(): Promise<Answered> {
    const { deps, planned, cancellation, registry } = this.#input;
    const leftMs = Math.max(0, planned.deadlineAt - deps.clock.now());
    const relax = deps.clock.after(leftMs, () => this.#stop.cancel(tooLate(planned.timeouts.totalMs)));
    cancellation.add(this.#stop);
    try {
      return await this.#run();
    } finally {
      relax();
      cancellation.remove(this.#stop);
      this.#stop.cancel(new GatewayError('cancelled', 'The response is complete.'));
      void registry.close();
    }
  }

  has(name: string): boolean {
    return this.#input.registry.has(name);
  }

  begin(name: string, text: string, made: number): GatewayCall | null {
    if (this.#isLastTurn || !this.#gate.admits(made)) return null;
    return this.#input.registry.call(name, text);
  }

  newId(facts: HostedFacts): string {
    const { items } = this.#input.planned.arrival.call.protocol.server;
    return newId(items?.idPrefix(facts) ?? 'work_');
  }

  nextIndex(): number {
    return this.#items++;
  }

  prelude(by: Attempt): readonly HostedFacts[] {
    const items = [...this.#input.registry.announced(by.endpoint), ...this.#allowed];
    return items.filter((item) => !this.#announced.has(item));
  }

  async #run(): Promise<Answered> {
    const { answer, cancellation, attemptLog } = this.#input;
    let { planned } = this.#input;
    for (let turn = 0; ; turn++) {
      if (cancellation.reason) return this.#interrupted(cancellation.reason);
      if (this.#stop.reason) return this.#failed(this.#stop.reason, turn, false);
      if (turn > 0) planned.arrival.quota?.beginTurn();
      const output = new TurnOutput(this, turn === 0);
      const failure = await this.#try(planned, output, turn > 0);
      if (failure) return this.#failed(failure, turn, output.committed);
      const by = answer.by;
      const ended = output.end();
      if (ended.relayed) return this.#answered(by);
      const { finish, calls } = ended;
      for (const item of ended.prelude) this.#announced.add(item);
      this.#produced += ended.usage ? outputTokens(ended.usage) : 0;
      const made = await this.#make(calls, finish);
      if (cancellation.reason) return this.#interrupted(cancellation.reason, by);
      const end = this.#endOf(ended);
      if (end) {
        const usage = attemptLog.usage(this.#earlier, ended.usage);
        if (usage) answer.on({ type: 'usage', usage });
        answer.on(end);
        answer.finishing();
        answer.flush();
        const lastTurn = turn > 0 ? ended.items.filter((item) => !this.#isOurs(item)) : undefined;
        return this.#answered(by, lastTurn);
      }
      this.#isLastTurn = turn + 2 >= MOST_TURNS || made.some(({ call }) => call.call === null);
      const request = this.#nextRequest(planned.request, ended.items, made);
      planned = { ...planned, request, plan: startingWith(planned.plan, by) };
      if (by) this.#earlier.push(by);
    }
  }

  #answered(by: Attempt | undefined, lastTurn?: readonly Item[]): Answered {
    return { failure: undefined, isReported: false, turns: this.#turns(by), lastTurn };
  }

  /** Result of an answer that is no longer needed. @param by attempt whose turn was complete */
  #interrupted(failure: GatewayError, by?: Attempt): Answered {
    return { failure, isReported: false, turns: this.#turns(by) };
  }

  #turns(last: Attempt | undefined): readonly Attempt[] {
    return last ? [...this.#earlier, last] : this.#earlier;
  }

  /**
   * Reports a failure after completed work in the answer, if its protocol can.
   * @param wasShown true: the client of a stream has received the beginning of the turn
   */
  #failed(failure: GatewayError, turn: number, wasShown: boolean): Answered {
    const { answer, planned, attemptLog } = this.#input;
    const by = wasShown ? answer.by : undefined;
    const ended = { failure, isReported: by?.isReported === true, turns: this.#turns(by) };
    const wasDone = turn > 0 || this.#allowed.length > 0;
    if (!wasDone || !planned.arrival.call.protocol.server.reportsFailure) return ended;
    if (turn === 0 && !wasShown)
      for (const facts of this.#allowed) showWhole(facts, this, (event) => answer.on(event));
    // The attempt that began a stream also ends it.
    if (answer.opened) return ended;
    const usage = attemptLog.usage(this.#earlier, undefined);
    if (usage) answer.on({ type: 'usage', usage });
    answer.on({ type: 'error', error: failure });
    return { ...ended, isReported: true };
  }

  #try(planned: Planned, output: TurnOutput, translate: boolean): Promise<GatewayError | undefined> {
    return tryForText({
      ...this.#input,
      planned,
      answer: output,
      translate,
      fit: async (asked, endpoint) => {
        await this.#makeApprovedCalls(endpoint);
        return this.#input.registry.fit(asked, endpoint, this.#stop.signal);
      },
    });
  }

  /**
   * Makes the calls approved since the last answer, so that the model gets their results.
   * @param endpoint the next endpoint; it runs calls itself for which it asked approval
   */
  async #makeApprovedCalls(endpoint: Endpoint): Promise<void> {
    const { registry } = this.#input;
    await concurrently(registry.approvedCalls(endpoint), CALLS_AT_ONCE, (approval) => {
      const id = approval.questionId;
      let making = this.#allowing.get(id);
      if (!making) this.#allowing.set(id, (making = this.#makeApproved(approval)));
      return making;
    });
  }

  async #makeApproved(approval: ApprovedCall): Promise<void> {
    const { registry, approved, planned } = this.#input;
    const { projectId } = planned.arrival.call.principal;
    const { call } = approval;
    const outcome = await this.#gate.pass(() =>
      this.#timed(call, () => approved.make(projectId, call, this.#stop.signal)),
    );
    registry.storeOutcome(approval, outcome ?? this.#refused(call));
    // A call that was not made stays approved for the next answer.
    if (outcome) this.#allowed.push(outcome.facts);
  }

  /** Makes the calls of a turn concurrently. Calls beyond the limit are refused. */
  async #make(calls: readonly HostedCall[], finish: FinishEvent | undefined): Promise<readonly Made[]> {
    // A call in a truncated turn may have incomplete arguments.
    const isWhole = finish === undefined || !isCut(finish);
    const made = await concurrently(calls, CALLS_AT_ONCE, async (hosted): Promise<Made | undefined> => {
      const { call } = hosted;
      if (call?.question) return undefined;
      if (!call) return { call: hosted, outcome: unshown(this.#gate.refusal) };
      if (!isWhole) {
        this.#close(hosted, cutFacts(call.facts));
        return undefined;
      }
      const outcome =
        (await this.#gate.pass(() => this.#timed(call, () => call.run(this.#stop.signal)))) ??
        this.#refused(call);
      this.#settle(hosted, outcome);
      return { call: hosted, outcome };
    });
    return made.filter((each) => each !== undefined);
  }

  /** Runs a call and records its duration. */
  async #timed({ facts }: GatewayCall, run: () => Promise<CallOutcome>): Promise<CallOutcome> {
    const { deps, attemptLog, planned } = this.#input;
    const { job } = planned.arrival.call;
    const startedAt = deps.clock.now();
    const name = facts.type === 'mcp' || facts.type === 'tool' ? facts.name : facts.type;
    if (job && facts.type === 'mcp') await job.toolBegins(name);
    const outcome = await run();
    const server = facts.type === 'mcp' ? facts.server : null;
    attemptLog.ran({ name, server, startedAt, endedAt: deps.clock.now(), isError: outcome.isError });
    return outcome;
  }

  #settle(hosted: HostedCall, outcome: CallOutcome): void {
    const { attemptLog, registry, cancellation } = this.#input;
    // Charged even if the answer is no longer needed.
    attemptLog.use(outcome.uses, (tool) => registry.priceOf(tool));
    if (cancellation.reason) return;
    this.#close(hosted, outcome.facts);
    if (this.streamed) this.client.flush();
  }

  #close({ index }: HostedCall, facts: HostedFacts): void {
    if (index !== undefined) this.client.on({ type: 'close', index, facts });
  }

  /** Result of a refused call. */
  #refused({ facts }: GatewayCall): CallOutcome {
    const { refusal } = this.#gate;
    return said(refusal, failedFacts(facts, refusal), true);
  }

  /** Finish of the whole answer after this turn. Undefined: the model continues. */
  #endOf({ calls, callsClient, finish }: EndedTurn): FinishEvent | undefined {
    const end: FinishEvent = finish ?? { type: 'finish', reason: 'unknown' };
    if (calls.length === 0 || callsClient) return end;
    if (isCut(end)) return end;
    // Some servers ignore that no tool may be called.
    if (this.#isLastTurn) return { type: 'finish', reason: 'length' };
    if (calls.some(({ call }) => call?.question)) return { type: 'finish', reason: 'stop' };
    const left = this.#tokensLeft();
    return left !== undefined && left < FEWEST_TOKENS ? { type: 'finish', reason: 'length' } : undefined;
  }

  #isOurs(item: Item): boolean {
    return item.type === 'tool_call' && item.kind === 'function' && this.has(item.name);
  }

  #tokensLeft(): number | undefined {
    const { maxOutputTokens } = this.#input.planned.request;
    return maxOutputTokens && maxOutputTokens - this.#produced;
  }

  /** The next request to the model: the same plus its answer and the results of its calls. */
  #nextRequest(request: CanonicalRequest, items: readonly Item[], made: readonly Made[]): CanonicalRequest {
    const results = made.map(({ call: { callId, name }, outcome }): ToolResultItem => {
      const { parts, isError } = outcome;
      return { type: 'tool_result', kind: 'function', callId, name, parts, isError };
    });
    const added = [...items, ...results].map((item): Item => ({ ...item, path: OWN_PATH }));
    return {
      ...request,
      items: [...request.items, ...added],
      toolChoice: this.#isLastTurn ? { type: 'none' } : afterwards(request.toolChoice),
      maxOutputTokens: this.#tokensLeft(),
      prefill: undefined,
    };
  }
}

/** The tool choice without force, because a tool required in every turn would be called forever. */
function afterwards(choice: ToolChoice | undefined): ToolChoice | undefined {
  switch (choice?.type) {
    case undefined:
    case 'none':
    case 'auto':
      return choice;
    case 'allowed':
      return { ...choice, mode: 'auto' };
    default:
      return { type: 'auto' };
  }
}

/** Moves the endpoint of the previous turn to the front of the plan. */
function startingWith(plan: Plan, served: Attempt | undefined): Plan {
  const isServed = ({ endpoint }: Candidate): boolean => endpoint === served?.endpoint;
  const candidates = [
    ...plan.candidates.filter(isServed),
    ...plan.candidates.filter((each) => !isServed(each)),
  ];
  return { ...plan, candidates };
}

/** Text for the model about a call that may not begin. The client does not receive it. */
function unshown(refusal: string): Made['outcome'] {
  return { parts: [{ type: 'text', text: refusal }], isError: true };
}

/** The tools used all the available time. */
function tooLate(totalMs: DurationMs): GatewayError {
  return new GatewayError('timeout', `No complete response within ${totalMs} ms: tools were still running.`);
}

/** True if a turn ended before the model was done. The arguments of its calls may be incomplete. */
function isCut({ reason }: FinishEvent): boolean {
  return reason === 'length' || reason === 'incomplete' || reason === 'content_filter';
}
