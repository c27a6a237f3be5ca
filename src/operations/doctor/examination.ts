// Examination of one endpoint: sends the probes' requests with the facts found so far, records every answer, and stops
// when further requests are pointless.
import type {
  CanonicalRequest,
  ErrorKind,
  Item,
  Quirks,
  ReasoningStyle,
  ResolvedReasoning,
} from '../../canonical/index.ts';
import { Report } from '../../canonical/index.ts';
import type { Endpoint, MeasuredFacts } from '../../catalog/index.ts';
import { askForAnswer, type AnswerAsking, type AskedAnswer } from '../../engine/index.ts';
import { mainProtocol, serverFacts } from '../../protocols/index.ts';
import type { Outcome } from './probe.ts';

/** Members of a probe request that differ from the defaults. */
export interface Wish extends Partial<
  Pick<
    CanonicalRequest,
    | 'items'
    | 'tools'
    | 'toolChoice'
    | 'parallelToolCalls'
    | 'maxOutputTokens'
    | 'stop'
    | 'responseFormat'
    | 'prefill'
    | 'stream'
    | 'extra'
  >
> {
  /** User message, instead of `items`. */
  readonly text?: string | undefined;
  /** Quirks to assume for this request. */
  readonly quirks?: Partial<Quirks> | undefined;
  readonly reasoningStyle?: ReasoningStyle | undefined;
  readonly reasoning?: ResolvedReasoning | undefined;
  /** Another endpoint of the same server, e.g. with another protocol. */
  readonly at?: Endpoint | undefined;
}

export interface Asked {
  readonly wish: Wish;
  readonly answer: AskedAnswer;
}

/** Maximum output tokens of a small question. Reasoning models spend most of them before the first word. */
const OUTPUT_TOKENS = 1024;
/** More prompt tokens than any small question has, including tools and schemas. */
const PROMPT_TOKENS = 256;
/** Maximum tokens of a small question. */
export const QUESTION_TOKENS = OUTPUT_TOKENS + PROMPT_TOKENS;

/** Timeouts or broken connections after which the examination stops. */
const PATIENCE = 2;
/** Errors that further requests would also get. */
const FINAL: ReadonlySet<ErrorKind> = new Set(['rate_limited', 'quota', 'authentication']);
const UNSET: ResolvedReasoning = { mode: 'unset' };

export class Examination {
  readonly endpoint: Endpoint;
  readonly asking: AnswerAsking;
  /** Results shared by all endpoints of one address, by name. */
  readonly shared: Map<string, Promise<unknown>>;
  /** Outcomes so far, by probe. */
  readonly outcomes = new Map<string, Outcome>();
  /** All answers so far. */
  readonly asked: Asked[] = [];
  /** Member that contains reasoning; undefined: none was seen. */
  reasoningMember: Quirks['reasoningReplay'] | undefined;
  #facts: MeasuredFacts = { quirks: {}, parameters: {} };
  #failures = 0;
  #givenUp: string | null = null;

  constructor(endpoint: Endpoint, asking: AnswerAsking, shared: Map<string, Promise<unknown>>) {
    this.endpoint = endpoint;
    this.asking = asking;
    this.shared = shared;
  }

  get facts(): MeasuredFacts {
    return this.#facts;
  }

  /** Reason why the examination stopped; null: it continues. */
  get givenUp(): string | null {
    return this.#givenUp;
  }

  /** The endpoint's quirks including the facts found so far. */
  get quirks(): Quirks {
    return { ...this.endpoint.quirks, ...this.#facts.quirks };
  }

  /** Possible values of a quirk: the known one first, then those in which servers of the protocol differ. */
  valuesOf<Name extends keyof Quirks>(name: Name): readonly Quirks[Name][] {
    const known = this.quirks[name];
    const { [name]: values = [] } = serverFacts(this.endpoint.protocol).varies;
    return [known, ...values.filter((value) => value !== known)];
  }

  get reasoningStyle(): ReasoningStyle {
    return this.#facts.reasoningStyle ?? this.endpoint.reasoningStyle;
  }

  learn(facts: Partial<MeasuredFacts>): void {
    this.#facts = {
      ...this.#facts,
      ...facts,
      quirks: { ...this.#facts.quirks, ...facts.quirks },
      parameters: { ...this.#facts.parameters, ...facts.parameters },
    };
  }

  giveUp(reason: string): void {
    this.#givenUp ??= reason;
  }

  /** Sends one request. */
  async ask(wish: Wish): Promise<AskedAnswer> {
    const at = wish.at ?? this.endpoint;
    const reasoning = wish.reasoning ?? UNSET;
    const endpoint: Endpoint = {
      ...at,
      quirks: { ...at.quirks, ...this.#facts.quirks, ...wish.quirks },
      reasoningStyle: wish.reasoningStyle ?? this.reasoningStyle,
    };
    const answer = await askForAnswer(endpoint, requestOf(wish, endpoint, reasoning), reasoning, this.asking);
    this.asked.push({ wish, answer });
    if (wish.at === undefined) this.#watch(answer);
    return answer;
  }

  /** Stops at rate limits and repeated connection failures. */
  #watch({ failure }: AskedAnswer): void {
    if (!failure) return;
    const isFinal = FINAL.has(failure.kind);
    const isSilence =
      failure.kind === 'timeout' ||
      (failure.kind === 'upstream_unavailable' && failure.upstream === undefined);
    if (isSilence) this.#failures += 1;
    if (isFinal || this.#failures >= PATIENCE) this.giveUp(failure.message);
  }
}

/** A user message. */
export function userSays(text: string): Item {
  return { type: 'message', role: 'user', parts: [{ type: 'text', text }] };
}

function requestOf(
  wish: Wish,
  { protocol, model }: Endpoint,
  reasoning: ResolvedReasoning,
): CanonicalRequest {
  const { text = '', quirks: _, reasoning: __, reasoningStyle: ___, at: ____, ...members } = wish;
  return {
    items: [userSays(text)],
    tools: [],
    maxOutputTokens: OUTPUT_TOKENS,
    stream: false,
    extra: {},
    ...members,
    // Unknown members are only passed on within a protocol. Everything else is sent as from any client.
    protocol: wish.extra ? protocol : mainProtocol.name,
    raw: {},
    model,
    reasoning:
      reasoning.mode === 'on'
        ? { enabled: true, effort: reasoning.effort, maxTokens: reasoning.budgetTokens }
        : {},
    gateway: {},
    report: new Report(),
  };
}
