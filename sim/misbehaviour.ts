// Faults that model names such as `cut-after-40` ask for, as data. `delivery.ts` applies them, and `dialect.ts` and
// the wire formats provide the messages.
import type { DurationMs } from '../src/base/units.ts';

export interface Misbehaviour {
  /** Returns this error; `kind` selects the message. */
  readonly fail?: { readonly status: number; readonly kind: FailureKind };
  /** Every n-th request succeeds, and the others fail with 503. */
  readonly flaky?: number;
  /** Sends nothing, not even headers. */
  readonly silent?: true;
  /** Milliseconds before the headers. */
  readonly headerDelayMs?: DurationMs;
  /** Milliseconds before the first content. */
  readonly contentDelayMs?: DurationMs;
  /** Milliseconds between two frames. */
  readonly paceMs?: DurationMs;
  /** Closes the connection after this many characters of text. */
  readonly cutAfter?: number;
  /** Stalls after this many characters of text. */
  readonly stallAfter?: number;
  /** Reports an error within the stream after this many characters of text; 0: before any content. */
  readonly errorAfter?: number;
  /** Omits the last frame of the protocol's stream. */
  readonly noDone?: true;
  /** Sends a frame in the middle that is not JSON. */
  readonly malformed?: true;
  /** Sends an unknown frame or member in the middle. */
  readonly unknownEvent?: true;
  /** Rejects conversations that end with an assistant message. */
  readonly refusePrefill?: true;
  /** Repeats the text of that message at the beginning. */
  readonly repeatPrefill?: true;
  readonly emptyBody?: true;
  readonly html?: true;
  /** Stops as if the output limit or a content filter had been reached. */
  readonly stopEarly?: 'length' | 'content_filter';
}

export type FailureKind = 'plain' | 'quota' | 'context_overflow' | 'content_filter';

export interface MisbehaviourEntry {
  /** The name, or its prefix if a number follows. */
  readonly name: string;
  /** Name in lists of models. */
  readonly example: string;
  /** `none`: no number. `required`/`optional`: a number follows after a dash. */
  readonly number: 'none' | 'optional' | 'required';
  readonly description: string;
  /** @param n number in the name; undefined: none */
  readonly make: (n: number | undefined) => Misbehaviour;
}

/** Default number of characters before a break, so that some text has been sent. */
const MIDDLE = 20;
/** Largest accepted number. The answer is made at least as long. */
const MOST = 100_000;

function fixed(name: string, description: string, what: Misbehaviour): MisbehaviourEntry {
  return { name, example: name, number: 'none', description, make: () => what };
}

function failing(status: number, description: string): MisbehaviourEntry {
  return fixed(`error-${status}`, description, { fail: { status, kind: 'plain' } });
}

/** All faults, in the order of `docs/sim.md`. Specific names come before their prefixes. */
export const misbehaviours: readonly MisbehaviourEntry[] = [
  failing(400, 'Rejects every request as malformed.'),
  failing(401, 'Rejects the API key.'),
  failing(402, 'Has run out of credit.'),
  failing(403, 'Denies access to this model.'),
  failing(404, 'Reports an unknown model.'),
  failing(408, 'Times out while reading the request.'),
  failing(413, 'Rejects the request as too large.'),
  failing(422, 'Reports that it cannot process the request.'),
  failing(429, 'Is rate limited; `retry-after: 1`.'),
  failing(500, 'Has an internal error.'),
  failing(503, 'Is unavailable.'),
  failing(529, 'Is overloaded.'),
  {
    name: 'error',
    example: 'error-502',
    number: 'required',
    description: 'Any other status from 400 to 599.',
    make: (n = 500) => ({ fail: { status: n >= 400 && n <= 599 ? n : 500, kind: 'plain' } }),
  },
  fixed('quota-429', 'Returns a 429 for an account without credit; a retry does not help.', {
    fail: { status: 429, kind: 'quota' },
  }),
  fixed('context-overflow', 'Rejects the prompt as too long.', {
    fail: { status: 400, kind: 'context_overflow' },
  }),
  fixed('content-filter', 'Refuses the prompt for its content.', {
    fail: { status: 400, kind: 'content_filter' },
  }),
  fixed('content-filter-mid', 'Stops in the middle of the response because of its content.', {
    stopEarly: 'content_filter',
  }),
  fixed('length', 'Stops in the middle of the response, as if the output limit were reached.', {
    stopEarly: 'length',
  }),
  {
    name: 'cut-after',
    example: 'cut-after-40',
    number: 'required',
    description: 'Breaks the connection after this many characters of text; 0: before the first one.',
    make: (n = MIDDLE) => ({ cutAfter: n }),
  },
  {
    name: 'stall-after',
    example: 'stall-after-0',
    number: 'required',
    description: 'Stops sending after this many characters of text, without an end; 0: before the first one.',
    make: (n = MIDDLE) => ({ stallAfter: n }),
  },
  fixed('stall-headers', 'Accepts the request and never responds.', { silent: true }),
  fixed('stall', 'Sends some text, then stops sending without an end.', { stallAfter: MIDDLE }),
  {
    name: 'slow-first-token',
    example: 'slow-first-token',
    number: 'optional',
    description: 'Sends the first content after this many milliseconds (default 3000).',
    make: (n = 3000) => ({ contentDelayMs: n }),
  },
  {
    name: 'slow-headers',
    example: 'slow-headers',
    number: 'optional',
    description: 'Sends the headers after this many milliseconds (default 3000).',
    make: (n = 3000) => ({ headerDelayMs: n }),
  },
  {
    name: 'paced',
    example: 'paced-50',
    number: 'required',
    description: 'Sends one chunk per this many milliseconds.',
    make: (n = 50) => ({ paceMs: n }),
  },
  fixed('error-in-stream-early', 'Reports an error in the stream before any content.', { errorAfter: 0 }),
  fixed('error-in-stream', 'Reports an error in the stream after some text.', { errorAfter: MIDDLE }),
  fixed('no-done', 'Omits the end of the stream.', { noDone: true }),
  fixed('malformed-event', 'Sends one event that is not JSON.', { malformed: true }),
  fixed('unknown-event', 'Sends one event of an unknown type.', { unknownEvent: true }),
  fixed('no-prefill', 'Rejects prefilled responses, as Claude models since 4.6 do.', {
    refusePrefill: true,
  }),
  fixed('repeats-prefill', 'Repeats the prefilled part of a response before it continues, as Mistral does.', {
    repeatPrefill: true,
  }),
  fixed('empty-200', 'Returns 200 with an empty body.', { emptyBody: true }),
  fixed('html-200', 'Returns 200 with an HTML page.', { html: true }),
  {
    name: 'flaky',
    example: 'flaky-3',
    number: 'required',
    description: 'Fails with 503 except for every n-th request, counted per name.',
    make: (n = 2) => ({ flaky: Math.max(1, n) }),
  },
];

const exact = new Map(misbehaviours.map((entry) => [entry.name, entry]));

/**
 * Fault that a model name asks for.
 * @param name without `sim/`
 * @returns its entry and the fault; null if the name asks for none
 */
export function findMisbehaviour(
  name: string,
): { readonly entry: MisbehaviourEntry; readonly what: Misbehaviour } | null {
  const alone = exact.get(name);
  if (alone && alone.number !== 'required') return { entry: alone, what: alone.make(undefined) };
  const dash = name.lastIndexOf('-');
  const digits = name.slice(dash + 1);
  if (dash < 1 || !isNumber(digits)) return null;
  const entry = exact.get(name.slice(0, dash));
  if (!entry || entry.number === 'none') return null;
  return { entry, what: entry.make(Math.min(Number(digits), MOST)) };
}

function isNumber(text: string): boolean {
  return text.length > 0 && text.length < 8 && /^\d+$/.test(text);
}
