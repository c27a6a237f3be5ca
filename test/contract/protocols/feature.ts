// A row of the matrix: a question and an answer in no protocol's words, and what the row is about. Knows no row.
import type { ProtocolName } from '../../../src/canonical/index.ts';
import type { Answer, Question, Result } from './exchange.ts';

export const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
export type Protocol = Extract<ProtocolName, (typeof PROTOCOLS)[number]>;

export interface Exchange {
  readonly question: Question;
  readonly answer: Answer;
  /** Results with which the client gives the answer back next. */
  readonly results?: readonly Result[];
  /** Text of the user beside them. */
  readonly beside?: string;
}
export interface Feature extends Exchange {
  readonly name: string;
  /** The facts that the row is about, by the beginning of their lines. A cell without any of them is impossible. */
  readonly about: readonly string[];
  /** The client gives its answer back without what it was told of the reasoning. */
  readonly forgets?: true;
  /** Set where the gateway does the work of upstreams that cannot: their answers, and the facts that they do not receive. */
  readonly byGateway?: {
    readonly upstreams: readonly Protocol[];
    readonly answers: readonly Answer[];
    readonly unreported: RegExp;
  };
  /** Which of the servers of a protocol; without it a server that can do all that its protocol knows. */
  readonly servers?: Servers;
  /** By kind of a fact, what the gateway puts in its place for an upstream that wants it otherwise. */
  readonly fetched?: Readonly<Record<string, string>>;
  /** False: the upstream gets it as it was said. */
  readonly isFetched?: (client: Protocol, upstream: Protocol) => boolean;
}

/** `bare`: neither searches the web nor fetches anything. `newest`: of models that take all that their protocol has. */
export type Servers = 'bare' | 'newest';

/** Name of the gateway's own web until it runs. */
export const WEB = 'http://web.invalid';

/**
 * The same row with calls and hidden state of its own, so that nothing kept from another run can stand in for it.
 * @param web where the gateway's own web is
 */
export function individual(feature: Feature, number: number, web: string): Feature {
  const { question, answer, results } = feature;
  const own = JSON.stringify({ question, answer, results })
    .replaceAll(/"call_[ab](?=")/g, `$&_${number}`)
    .replaceAll(/0000(?=")/g, String(number).padStart(4, '0'))
    .replaceAll(WEB, web);
  return { ...feature, ...(JSON.parse(own) as Pick<Feature, 'question' | 'answer' | 'results'>) };
}
