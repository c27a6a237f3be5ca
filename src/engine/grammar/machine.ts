// Automaton of a grammar: states that read a character, branch, or call the automaton of a rule. Immutable once built.
import type { CharSet } from './char-set.ts';
import type { Expression, Place } from './expression.ts';
import { cannotCheck, broken } from './problem.ts';

export type State =
  | { readonly type: 'char'; readonly set: CharSet; next: number }
  | { readonly type: 'branch'; next: number; readonly other: number }
  | { readonly type: 'place'; readonly place: Place; readonly next: number }
  | { readonly type: 'call'; readonly rule: number; readonly next: number }
  /** The rule is complete. */
  | { readonly type: 'done'; readonly rule: number };

export interface Machine {
  readonly states: readonly State[];
  /** First state of each rule. Matching begins at the first rule. */
  readonly starts: readonly number[];
}

/** Remaining states to build, because a hostile grammar multiplies its repetitions. Shared by related automata. */
export interface Room {
  states: number;
  /** Remaining parts of expressions, including those that need no state. */
  parts: number;
}

/** Capacity far above the needs of grammars in use. */
export function grammarCapacity(): Room {
  return { states: 50_000, parts: 200_000 };
}

/**
 * Builds the automaton of a set of rules.
 * @param first rule at which matching begins
 * @param path of the text in the client's body
 * @throws GatewayError `invalid_request` for a call of an unknown rule, `unsupported` when the automaton would be too
 * large
 */
export function buildMachine(
  rules: ReadonlyMap<string, Expression>,
  first: string,
  path: string,
  room: Room,
): Machine {
  const names = [first, ...[...rules.keys()].filter((name) => name !== first)];
  const numbers = new Map(names.map((name, number) => [name, number]));
  const states: State[] = [];
  const add = (state: State): number => {
    if (--room.states < 0) throw cannotCheck(path, 'it is too large');
    return states.push(state) - 1;
  };
  /** @returns the first state of `expression`, which continues at `next` */
  const build = (expression: Expression, next: number): number => {
    if (--room.parts < 0) throw cannotCheck(path, 'it is too large');
    switch (expression.type) {
      case 'char':
        return add({ type: 'char', set: expression.set, next });
      case 'place':
        return add({ type: 'place', place: expression.place, next });
      case 'sequence':
        return expression.parts.reduceRight((after, part) => build(part, after), next);
      case 'choice':
        return expression.options
          .map((option) => build(option, next))
          .reduceRight((other, option) => add({ type: 'branch', next: option, other }));
      case 'repeat':
        return repeat(expression, next);
      case 'call': {
        const rule = numbers.get(expression.name);
        if (rule === undefined) throw broken(path, `${expression.name} is not defined`);
        return add({ type: 'call', rule, next });
      }
    }
  };
  const repeat = ({ body, min, max }: Extract<Expression, { type: 'repeat' }>, next: number): number => {
    let after = next;
    if (max === null) {
      const loop: State = { type: 'branch', next: -1, other: next };
      after = add(loop);
      loop.next = build(body, after);
    } else
      for (let i = min; i < max; i++) after = add({ type: 'branch', next: build(body, after), other: next });
    for (let i = 0; i < min; i++) after = build(body, after);
    return after;
  };
  const starts = names.map((name, rule) => {
    const end = add({ type: 'done', rule });
    const body = rules.get(name);
    if (!body) throw broken(path, `${name} is not defined`);
    return build(body, end);
  });
  return { states, starts };
}
