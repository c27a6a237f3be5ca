// Content of an answer in one form for every protocol: recordings and the gateway's answers are both brought to
// it and compared. Knows no protocol.
import { sortedJson } from './loose.ts';

export interface SaidCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** JSON with sorted members, or the text where it is no JSON; the input of a custom call as it is. */
  readonly arguments: string;
}

/** In tokens. */
export interface SaidTokens {
  /** With cache reads and writes. */
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  /** With reasoning. */
  readonly completion: number;
  readonly reasoning: number;
}

export interface Said {
  text: string;
  refusal: string;
  /** Parts and items, a blank line between them. */
  reasoning: string;
  /** Signatures and encrypted reasoning, in order. */
  readonly opaque: string[];
  readonly calls: SaidCall[];
  /** Google's `extra_content` of the message and of its calls: it holds signatures that must come back. */
  readonly extras: string[];
  /** Addresses of cited pages, in order. */
  readonly citations: string[];
  end: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error';
  /** Null when nobody counted: the gateway estimates then, and only the sums can be checked. */
  tokens: SaidTokens | null;
}

export function emptySaid(): Said {
  return {
    text: '',
    refusal: '',
    reasoning: '',
    opaque: [],
    calls: [],
    extras: [],
    citations: [],
    end: 'error',
    tokens: null,
  };
}

export function saidCall(kind: SaidCall['kind'], name: string, text: string): SaidCall {
  return { kind, name, arguments: kind === 'custom' ? text : sortedJson(text) };
}

/**
 * Difference of an answer from what it should say; undefined where there is none. After a failure only the failure
 * itself is compared: what came before it depends on when it was noticed.
 */
export function difference(want: Said, got: Said): string | undefined {
  if (want.end === 'error' && got.end === 'error') return undefined;
  for (const key of Object.keys(want) as (keyof Said)[]) {
    if (key === 'tokens' && want.tokens === null) continue;
    const expected = JSON.stringify(want[key]);
    const actual = JSON.stringify(got[key]);
    if (expected === actual) continue;
    let from = 0;
    while (expected[from] === actual[from]) from++;
    from = Math.max(0, from - 40);
    return `${key}: expected …${expected.slice(from, from + 200)}, got …${actual.slice(from, from + 200)}`;
  }
  return undefined;
}

/** The word for the end that a client must see, from what was sent and the upstream's own reason. */
export function endOf(reason: 'stop' | 'length' | 'content_filter', calls: number): Said['end'] {
  return reason === 'stop' && calls > 0 ? 'tool_calls' : reason;
}

const NO_PLACE_FOR = /^\[The model's response cannot be expressed in this protocol: [\w, ]+\.\]$/;

/** Text of the model in a client's answer. An answer whose parts the protocol has no place for has a text of our own. */
export function receivedOf(want: Said, said: Said): Said {
  const isEmpty = want.text === '' && want.refusal === '' && want.calls.length === 0;
  return isEmpty && NO_PLACE_FOR.test(said.text) ? { ...said, text: '' } : said;
}
