// Runs the gateway's own tools between the turns of a model, and presents the turns as one answer. Each turn is a
// request of its own with its own tries; the tools of one turn run together. A tool that fails is told to the model.
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
import type { Candidate, Plan } from '../../routing/index.ts';
import { newId } from '../../runtime/ids.ts';
import { type CallOutcome, cutFacts, failedFacts, type GatewayCall, said } from '../../tools/gateway-tool.ts';
import type { AnsweredCalls } from './answered-calls.ts';
import type { Attempt, LearnedRefusals } from '../attempt/index.ts';
import { CallGate } from './call-gate.ts';
import type { ClientAnswer } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Generation } from '../generation.ts';
import { inLanes } from '../in-lanes.ts';
import type { AllowedCall, ToolBelt } from './tool-belt.ts';
import { addUses } from './tool-uses.ts';
import { Tries } from '../failover/index.ts';
import { type EndedTurn, type HostedCall, showWhole, type TurnHost, TurnOutput } from './turn-output.ts';

/** After as many turns the model must answer with what it has. */
const MOST_TURNS = 24;
/** Calls of the gateway's tools that run at once for one answer. */
const CALLS_AT_ONCE = 8;
/** Fewer tokens than this are no answer worth another turn. */
const FEWEST_TOKENS = 16;

export interface ToolLoopInput {
  readonly deps: GatewayDependencies;
  readonly generation: Generation;
  readonly learned: LearnedRefusals;
  readonly request: CanonicalRequest;
  readonly plan: Plan;
  readonly answer: ClientAnswer;
  readonly belt: ToolBelt;
  readonly answered: AnsweredCalls;
}

/** A call that was made, and what came of it. */
interface Made {
  readonly call: HostedCall;
  readonly outcome: Pick<CallOutcome, 'parts' | 'isError'>;
}

export class ToolLoop implements TurnHost {
  readonly client: ClientAnswer;
  readonly streamed: boolean;
  readonly #input: ToolLoopInput;
  readonly #stop = new AbortController();
  #tries: Tries | undefined;
  #interruption: GatewayError | undefined;
  /** Items of the whole answer so far. */
  #items = 0;
  readonly #gate: CallGate;
  /** Output tokens of earlier turns. */
  #produced = 0;
  /** Finished calls that a person had allowed before this answer began. */
  readonly #allowed: HostedFacts[] = [];
  /** The same calls, by the ids of the questions: whichever endpoint is asked, they are made once. */
  readonly #allowing = new Map<string, Promise<void>>();
  /** True in a turn that must answer with what there is: whatever it calls is not made. */
  #isLastTurn = false;
  /** Items that the client was shown before a turn. */
  readonly #announced = new Set<HostedFacts>();

  constructor(input: ToolLoopInput) {
    this.#input = input;
    this.client = input.answer;
    this.streamed = input.request.stream;
    this.#gate = new CallGate(input.request.state?.maxToolCalls, input.generation.call.account);
  }

  get sources(): ToolBelt['sources'] {
    return this.#input.belt.sources;
  }

  /** @returns undefined when the answer is complete, else the error for the client */
  async run(): Promise<GatewayError | undefined> {
    const { deps, generation } = this.#input;
    const { clock } = deps;
    const cancel = clock.after(Math.max(0, generation.deadlineAt - clock.now()), () => this.#stop.abort());
    try {
      return await this.#run();
    } finally {
      cancel();
      this.#stop.abort();
      void this.#input.belt.close();
    }
  }

  /** Stops whatever runs; `error` is the outcome. */
  interrupt(error: GatewayError): void {
    this.#interruption ??= error;
    this.#stop.abort();
    this.#tries?.interrupt(error);
  }

  has(name: string): boolean {
    return this.#input.belt.has(name);
  }

  begin(name: string, text: string, made: number): GatewayCall | null {
    if (this.#isLastTurn || !this.#gate.admits(made)) return null;
    return this.#input.belt.call(name, text);
  }

  newId(facts: HostedFacts): string {
    const { items } = this.#input.generation.call.protocol.server;
    return newId(items?.idPrefix(facts) ?? 'work_');
  }

  nextIndex(): number {
    return this.#items++;
  }

  prelude(by: Attempt): readonly HostedFacts[] {
    const items = [...this.#input.belt.announced(by.endpoint), ...this.#allowed];
    return items.filter((item) => !this.#announced.has(item));
  }

  async #run(): Promise<GatewayError | undefined> {
    const { generation, answer } = this.#input;
    let { request, plan } = this.#input;
    for (let turn = 0; ; turn++) {
      if (this.#interruption) return this.#interruption;
      if (this.#stop.signal.aborted) return this.#failed(tooLate(generation.timeouts.totalMs), turn, false);
      const output = new TurnOutput(this, turn === 0);
      const failure = await this.#try(request, plan, output, turn > 0);
      if (failure) return this.#failed(failure, turn, output.committed);
      const ended = output.end();
      if (ended.relayed) return undefined;
      const { finish, calls } = ended;
      for (const item of ended.prelude) this.#announced.add(item);
      this.#produced += ended.usage ? outputTokens(ended.usage) : 0;
      const made = await this.#make(calls, finish);
      if (this.#interruption) return this.#interruption;
      const end = this.#endOf(ended);
      if (end) {
        if (turn > 0) generation.lastTurn = ended.items.filter((item) => !this.#isOurs(item));
        const usage = generation.usage(ended.usage);
        if (usage) answer.on({ type: 'usage', usage });
        answer.on(end);
        answer.finishing();
        answer.flush();
        return undefined;
      }
      this.#isLastTurn = turn + 2 >= MOST_TURNS || made.some(({ call }) => call.call === null);
      request = this.#nextRequest(request, ended.items, made);
      plan = startingWith(plan, generation.served);
      if (generation.served) generation.earlier.push(generation.served);
      generation.served = undefined;
    }
  }

  /**
   * An answer that fails after something was done tells it, where its protocol can.
   * @param wasShown whether the client of a stream has seen the beginning of the turn
   */
  #failed(failure: GatewayError, turn: number, wasShown: boolean): GatewayError {
    const { answer, generation } = this.#input;
    const wasDone = turn > 0 || this.#allowed.length > 0;
    if (!wasDone || !generation.call.protocol.server.tellsFailure) return failure;
    if (turn === 0 && !wasShown)
      for (const facts of this.#allowed) showWhole(facts, this, (event) => answer.on(event));
    // A stream that has begun is ended by whoever began it.
    if (answer.opened) return failure;
    const usage = generation.usage(undefined);
    if (usage) answer.on({ type: 'usage', usage });
    answer.on({ type: 'error', error: failure });
    generation.told = true;
    return failure;
  }

  #try(
    request: CanonicalRequest,
    plan: Plan,
    output: TurnOutput,
    translate: boolean,
  ): Promise<GatewayError | undefined> {
    const { deps, generation, learned, belt } = this.#input;
    const fit: TriesFit = async (asked, endpoint) => {
      await this.#makeAllowedCalls(endpoint);
      return belt.fit(asked, endpoint, this.#stop.signal);
    };
    this.#tries = new Tries({ deps, generation, learned, request, plan, answer: output, fit, translate });
    return this.#tries.run();
  }

  /**
   * Makes the calls that a person has allowed since the last answer: the model reads what came of them.
   * @param endpoint that is asked next: what it asked a person for itself, it runs itself
   */
  async #makeAllowedCalls(endpoint: Endpoint): Promise<void> {
    const { belt } = this.#input;
    await inLanes(belt.answered(endpoint), CALLS_AT_ONCE, (allowed) => {
      const id = allowed.questionId;
      let making = this.#allowing.get(id);
      if (!making) this.#allowing.set(id, (making = this.#makeAllowed(allowed)));
      return making;
    });
  }

  async #makeAllowed(allowed: AllowedCall): Promise<void> {
    const { belt, answered, generation } = this.#input;
    const { keyId } = generation.call.principal;
    const { call } = allowed;
    const outcome = await this.#gate.pass(() => answered.make(keyId, call, this.#stop.signal));
    belt.settleAnswer(allowed, outcome ?? this.#refused(call));
    // One that was not made stays allowed: the next answer makes it.
    if (outcome) this.#allowed.push(outcome.facts);
  }

  /** Makes the calls of a turn together. Those that nobody may make any more are ended as they are. */
  async #make(calls: readonly HostedCall[], finish: FinishEvent | undefined): Promise<readonly Made[]> {
    // A call whose turn was cut short has perhaps only half of its arguments.
    const isWhole = finish?.reason !== 'length' && finish?.reason !== 'content_filter';
    const made = await inLanes(calls, CALLS_AT_ONCE, async (hosted): Promise<Made | undefined> => {
      const { call } = hosted;
      if (call?.question) return undefined;
      if (!call) return { call: hosted, outcome: unshown(this.#gate.refusal) };
      if (!isWhole) {
        this.#close(hosted, cutFacts(call.facts));
        return undefined;
      }
      const outcome = (await this.#gate.pass(() => call.run(this.#stop.signal))) ?? this.#refused(call);
      this.#settle(hosted, outcome);
      return { call: hosted, outcome };
    });
    return made.filter((each) => each !== undefined);
  }

  #settle(hosted: HostedCall, outcome: CallOutcome): void {
    const { generation, belt } = this.#input;
    // To be paid, also when nobody waits for the answer any more.
    generation.toolUses = addUses(generation.toolUses, outcome.uses, (tool) => belt.priceOf(tool));
    if (this.#interruption) return;
    this.#close(hosted, outcome.facts);
    if (this.streamed) this.client.flush();
  }

  #close({ index }: HostedCall, facts: HostedFacts): void {
    if (index !== undefined) this.client.on({ type: 'close', index, facts });
  }

  /** What comes of a call that may not be made. */
  #refused({ facts }: GatewayCall): CallOutcome {
    const { refusal } = this.#gate;
    return said(refusal, failedFacts(facts, refusal), true);
  }

  /** How the whole answer ends with this turn; undefined when the model goes on. */
  #endOf({ calls, callsClient, finish }: EndedTurn): FinishEvent | undefined {
    const end: FinishEvent = finish ?? { type: 'finish', reason: 'unknown' };
    if (calls.length === 0 || callsClient) return end;
    if (end.reason === 'length' || end.reason === 'content_filter') return end;
    // Not every server heeds that no tool may be called.
    if (this.#isLastTurn) return { type: 'finish', reason: 'length' };
    if (calls.some(({ call }) => call?.question)) return { type: 'finish', reason: 'stop' };
    const left = this.#tokensLeft();
    return left !== undefined && left < FEWEST_TOKENS ? { type: 'finish', reason: 'length' } : undefined;
  }

  #isOurs(item: Item): boolean {
    return item.type === 'tool_call' && item.kind === 'function' && this.has(item.name);
  }

  #tokensLeft(): number | undefined {
    const { maxOutputTokens } = this.#input.request;
    return maxOutputTokens && maxOutputTokens - this.#produced;
  }

  /** What the model is asked next: the same with what it said and what came of its calls. */
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

type TriesFit = NonNullable<ConstructorParameters<typeof Tries>[0]['fit']>;

/** The same choice without force: a tool that must be called in every turn would be called for ever. */
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

/** The plan with the endpoint first that served the turn before: it knows the conversation. */
function startingWith(plan: Plan, served: Attempt | undefined): Plan {
  const isServed = ({ endpoint }: Candidate): boolean => endpoint === served?.endpoint;
  const candidates = [
    ...plan.candidates.filter(isServed),
    ...plan.candidates.filter((each) => !isServed(each)),
  ];
  return { ...plan, candidates };
}

/** What the model reads of a call that may not begin. The client never sees it. */
function unshown(refusal: string): Made['outcome'] {
  return { parts: [{ type: 'text', text: refusal }], isError: true };
}

/** The tools took all the time there was. */
function tooLate(totalMs: number): GatewayError {
  return new GatewayError('timeout', `no complete answer within ${totalMs} ms: tools were still running`);
}
