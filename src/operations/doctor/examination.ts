// The examination of one endpoint: asks with what has been found out so far, remembers every answer, and knows when it
// is time to give up. Must not know what is asked, nor why.
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

/** Members of one request; the rest is as for everybody. */
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
  /** A user's message, in place of `items`. */
  readonly text?: string | undefined;
  /** The hypothesis: the request is written as if the endpoint were so. */
  readonly quirks?: Partial<Quirks> | undefined;
  readonly reasoningStyle?: ReasoningStyle | undefined;
  readonly reasoning?: ResolvedReasoning | undefined;
  /** Asks another endpoint of the same place, e.g. over another protocol. */
  readonly at?: Endpoint | undefined;
}

export interface Asked {
  readonly wish: Wish;
  readonly answer: AskedAnswer;
}

/** Output tokens that a small question may cost: a model that reasons spends most of them before its first word. */
const OUTPUT_TOKENS = 1024;
/** More than any small question has, tools and schemas included. */
const PROMPT_TOKENS = 256;
/** Tokens of one small question, at most. */
export const QUESTION_TOKENS = OUTPUT_TOKENS + PROMPT_TOKENS;

/** So many silences or broken connections are a pattern. */
const PATIENCE = 2;
/** Problem that the next request would meet as well. */
const FINAL: ReadonlySet<ErrorKind> = new Set(['rate_limited', 'quota', 'authentication']);
const UNSET: ResolvedReasoning = { mode: 'unset' };

export class Examination {
  readonly endpoint: Endpoint;
  readonly asking: AnswerAsking;
  /** Answers shared by all endpoints of one address, by name. */
  readonly shared: Map<string, Promise<unknown>>;
  /** Verdicts so far, by probe. */
  readonly outcomes = new Map<string, Outcome>();
  /** Every answer so far. */
  readonly asked: Asked[] = [];
  /** The member in which reasoning is shown; undefined while none was. */
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

  /** Why nothing more is asked; null while it goes on. */
  get givenUp(): string | null {
    return this.#givenUp;
  }

  /** The endpoint's quirks as far as they are known now. */
  get quirks(): Quirks {
    return { ...this.endpoint.quirks, ...this.#facts.quirks };
  }

  /** Values that a quirk may have here: what is known of the endpoint, then whatever servers of its protocol differ in. */
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

  /** Asks once. */
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

  /** A limit that is reached, or a server that breaks down, is not asked again and again. */
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

/** A message of the user. */
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
    // Members that no document knows travel only inside of one protocol; all else is said as any client says it.
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
