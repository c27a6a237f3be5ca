// Syntax-independent form of regular expressions, terminals and rules, from which automata are compiled.
import type { CharSet } from './char-set.ts';

/** A position between two characters. In ECMAScript, word characters are ASCII only. */
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
  /** `max` is null when unbounded. */
  | { readonly type: 'repeat'; readonly body: Expression; readonly min: number; readonly max: number | null }
  /** Matches whatever the rule of this name matches. */
  | { readonly type: 'call'; readonly name: string };

export const EMPTY_EXPRESSION: Expression = { type: 'sequence', parts: [] };

export function sequence(parts: readonly Expression[]): Expression {
  const [only] = parts;
  return only && parts.length === 1 ? only : { type: 'sequence', parts };
}

export function choice(options: readonly Expression[]): Expression {
  const [only] = options;
  return only && options.length === 1 ? only : { type: 'choice', options };
}
