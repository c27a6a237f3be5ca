// Meaning of a regular expression, a terminal or a rule, whatever it was written in: the one form that is compiled.
// Knows no syntax.
import type { CharSet } from './char-set.ts';

/** A place between two characters. For ECMAScript, only letters of ASCII make words. */
export type Place =
  | 'start'
  | 'end'
  | 'line_start'
  | 'line_end'
  | 'boundary'
  | 'no_boundary'
  | 'ascii_boundary'
  | 'no_ascii_boundary';

export type Expression =
  | { readonly type: 'char'; readonly set: CharSet }
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly type: 'choice'; readonly options: readonly Expression[] }
  /** `max` is null where there is none. */
  | { readonly type: 'repeat'; readonly body: Expression; readonly min: number; readonly max: number | null }
  /** A call: whatever the rule of this name matches. */
  | { readonly type: 'call'; readonly name: string };

export const NOTHING: Expression = { type: 'sequence', parts: [] };

/** These one after another. */
export function sequence(parts: readonly Expression[]): Expression {
  const [only] = parts;
  return only && parts.length === 1 ? only : { type: 'sequence', parts };
}

/** One of these. */
export function choice(options: readonly Expression[]): Expression {
  const [only] = options;
  return only && options.length === 1 ? only : { type: 'choice', options };
}
