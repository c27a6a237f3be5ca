// A row of the fault table, and short words to write it with. Knows no single fault.
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { ErrorKind } from '../../../src/canonical/index.ts';
import { stream as sse, whole } from '../../support/upstreams/answers.ts';
import { dialect, streamOf, type Dialect, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import type { Answer, Exchange } from '../../support/upstreams/scripted-upstream.ts';

export type Speaker = 'first' | 'second';

/** Values that the scripts of a row may use. */
export interface Stage {
  readonly protocol: UpstreamProtocol;
  readonly stream: boolean;
  readonly first: Dialect;
  readonly second: Dialect;
}

/** Statuses that each protocol of clients has for the same. */
export const STATUSES = {
  overloaded: { 'openai-chat': 503, 'openai-responses': 503, 'anthropic-messages': 529, gemini: 503 },
  empty: { 'openai-chat': 402, 'openai-responses': 402, 'anthropic-messages': 402, gemini: 429 },
  unavailable: { 'openai-chat': 502, 'openai-responses': 502, 'anthropic-messages': 500, gemini: 503 },
} as const;

/** Answer that the client must have in the end. */
export type Outcome =
  /** A complete answer: of one upstream, or begun by the first and completed by the second. `text`: if not `SAID`. */
  | { readonly answer: Speaker | 'both'; readonly text?: string }
  /** An error instead of an answer, with this status. `words`: its message must hold them. */
  /** `relayed`: the upstream's own status, where its words are the client's as they are. */
  | {
      readonly relayed?: number;
      readonly refused: number | keyof typeof STATUSES;
      readonly retryAfterSeconds?: number;
      readonly words?: string;
    }
  /** The beginning of the first's answer, then a native error and no end. */
  | { readonly broken: ErrorKind };

/**
 * Models over two upstreams `first` and `second`: `two` is served by both, `one` by the first alone, `dead` by an
 * address where nobody listens and then the second; `fallback` is a model of the first with another model, of the
 * second and with a larger context, as its fallback; `prefill` is `two` with endpoints that continue a beginning.
 */
export type FaultModel = 'two' | 'one' | 'dead' | 'fallback' | 'prefill';

export interface Fault {
  /** As the page shows it. */
  readonly name: string;
  /** Default: both. */
  readonly mode?: 'streamed' | 'whole';
  /** Upstream protocols in which it can happen. Default: all. */
  readonly protocols?: readonly UpstreamProtocol[];
  /** Default `two`. */
  readonly model?: FaultModel;
  /** Answers of each upstream to its first, second, … request. Default of the second: a sound answer. */
  readonly first: (stage: Stage) => readonly Answer[];
  readonly second?: (stage: Stage) => readonly Answer[];
  /** The connection to the first was used before. */
  readonly warm?: true;
  /** Time that passes after the first request while nothing arrives, in milliseconds, and what happens then. */
  readonly silence?: {
    readonly ms: number;
    /** Not before the client has begun to read: what is compressed is not decoded at once. */
    readonly shown?: true;
    readonly next?: (exchange: Exchange, stage: Stage) => void;
  };
  /** One per attempt: who, and `completed` or the kind of its error. */
  readonly attempts: readonly `${Speaker | 'dead'} ${'completed' | ErrorKind}`[];
  /** Milliseconds between the beginning of one attempt and the next; default: none. */
  readonly gapsMs?: readonly number[];
  readonly client: Outcome;
  /** With `stream_safety: "buffer"`, where it differs. */
  readonly buffered?: Pick<Fault, 'attempts' | 'client'> & { readonly gapsMs?: readonly number[] };
  /** Only with `stream_safety: "continue"`. */
  readonly continued?: true;
}

/** Text of a sound answer. The two halves can be distinguished where an answer is continued. */
export const SAID: Readonly<Record<Speaker, readonly [string, string]>> = {
  first: ['One, two,', ' three of the first.'],
  second: ['Uno, dos,', ' tres of the second.'],
};

/** Codings that some servers use although nobody asked for any. */
export const CODINGS: Readonly<Record<string, (text: string) => Uint8Array>> = {
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  br: (text) => brotliCompressSync(text),
  zstd: (text) => zstdCompressSync(text),
};

/** Mark in everything that an upstream says about itself. */
export const markOf = (speaker: Speaker): string => `up-${speaker}-0001`;

export function stageOf(protocol: UpstreamProtocol, stream: boolean): Stage {
  return {
    protocol,
    stream,
    first: dialect(protocol, markOf('first')),
    second: dialect(protocol, markOf('second')),
  };
}

/** A complete answer in the form that was asked for. */
export function sound(stage: Stage, speaker: Speaker): Answer {
  return stage.stream
    ? sse(streamOf(stage[speaker], ...SAID[speaker]))
    : whole(stage[speaker].whole(SAID[speaker].join('')));
}

/** A stream of the first's that has shown half of its text. */
export function begun({ first }: Stage): string {
  return first.opening + first.piece(SAID.first[0]);
}

/** The same answer to every request of this row. */
export function always(answer: Answer): readonly Answer[] {
  return [answer, answer, answer, answer];
}
