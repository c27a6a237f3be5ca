// Decides whether a text matches an automaton, using Earley's algorithm. Linear without rule calls, at most cubic with
// them, and bounded by a step budget.
import type { Place } from './expression.ts';
import type { Machine } from './machine.ts';

/** Remaining steps, shared by related checks. */
export interface Budget {
  steps: number;
}

export type Outcome =
  | { readonly type: 'match' }
  /** `at`: number of leading characters that could begin a match. */
  | { readonly type: 'mismatch'; readonly at: number }
  /** The budget is exhausted. */
  | { readonly type: 'gave_up' };

/** Checks a text. @param anywhere true: any part of the text may match. Only for automata of one rule */
export function recognise(machine: Machine, text: string, budget: Budget, anywhere = false): Outcome {
  return new Recogniser(machine, text, budget, anywhere).run();
}

const MATCH: Outcome = { type: 'match' };

/** States at one position: pairs of a state and the position where its rule began. */
class Column {
  readonly states: number[] = [];
  readonly origins: number[] = [];
  /** Last noted position and origin, by state. Most states have one origin per position. */
  readonly #places: Int32Array;
  readonly #noted: Int32Array;
  readonly #more = new Set<number>();

  constructor(stateCount: number) {
    this.#places = new Int32Array(stateCount).fill(-1);
    this.#noted = new Int32Array(stateCount);
  }

  add(state: number, origin: number, place: number): void {
    if (this.#places[state] !== place) {
      this.#places[state] = place;
      this.#noted[state] = origin;
    } else {
      if (this.#noted[state] === origin) return;
      const key = origin * this.#places.length + state;
      if (this.#more.has(key)) return;
      this.#more.add(key);
    }
    this.states.push(state);
    this.origins.push(origin);
  }

  clear(): void {
    this.states.length = 0;
    this.origins.length = 0;
    this.#more.clear();
  }
}

class Recogniser {
  readonly #machine: Machine;
  readonly #text: Int32Array;
  readonly #budget: Budget;
  readonly #anywhere: boolean;
  #here: Column;
  #ahead: Column;
  /** Items that wait for a rule that began at a position: pairs of the state to continue in and its origin. */
  readonly #waiting = new Map<number, number[]>();
  /** Last position where a rule matched the empty text, by rule. */
  readonly #empty: Int32Array;

  constructor(machine: Machine, text: string, budget: Budget, anywhere: boolean) {
    this.#machine = machine;
    this.#text = Int32Array.from(Array.from(text, (char) => char.codePointAt(0) ?? 0));
    this.#budget = budget;
    this.#anywhere = anywhere;
    this.#here = new Column(machine.states.length);
    this.#ahead = new Column(machine.states.length);
    this.#empty = new Int32Array(machine.starts.length).fill(-1);
  }

  run(): Outcome {
    const start = this.#machine.starts[0] ?? 0;
    const { length } = this.#text;
    let furthest = 0;
    for (let place = 0; place <= length; place++) {
      // The origin of a search is irrelevant; sharing one keeps the search linear.
      if (place === 0 || this.#anywhere) this.#here.add(start, 0, place);
      if (this.#here.states.length === 0) break;
      furthest = place;
      if (this.#work(place)) return MATCH;
      if (this.#budget.steps <= 0) return { type: 'gave_up' };
      const done = this.#here;
      this.#here = this.#ahead;
      this.#ahead = done;
      done.clear();
    }
    return { type: 'mismatch', at: furthest };
  }

  /** Processes all items at a position. @returns true when the text matches */
  #work(place: number): boolean {
    const { states, starts } = this.#machine;
    const here = this.#here;
    const char = this.#text[place];
    for (let i = 0; i < here.states.length; i++) {
      if (--this.#budget.steps <= 0) return false;
      const state = states[here.states[i] ?? 0];
      const origin = here.origins[i] ?? 0;
      switch (state?.type) {
        case 'char':
          if (char !== undefined && state.set.has(char)) this.#ahead.add(state.next, origin, place + 1);
          break;
        case 'branch':
          here.add(state.next, origin, place);
          here.add(state.other, origin, place);
          break;
        case 'place':
          if (this.#isAt(state.place, place)) here.add(state.next, origin, place);
          break;
        case 'call': {
          const key = place * starts.length + state.rule;
          const waiting = this.#waiting.get(key);
          if (waiting) waiting.push(state.next, origin);
          else {
            this.#waiting.set(key, [state.next, origin]);
            here.add(starts[state.rule] ?? 0, place, place);
          }
          if (this.#empty[state.rule] === place) here.add(state.next, origin, place);
          break;
        }
        case 'done':
          if (state.rule === 0 && origin === 0 && (this.#anywhere || place === this.#text.length))
            return true;
          this.#complete(state.rule, origin, place);
          break;
        default:
      }
    }
    return false;
  }

  #complete(rule: number, origin: number, place: number): void {
    if (origin === place) this.#empty[rule] = place;
    const waiting = this.#waiting.get(origin * this.#machine.starts.length + rule);
    if (!waiting) return;
    this.#budget.steps -= waiting.length / 2;
    for (let i = 0; i < waiting.length; i += 2) this.#here.add(waiting[i] ?? 0, waiting[i + 1] ?? 0, place);
  }

  #isAt(wanted: Place, place: number): boolean {
    const before = this.#text[place - 1];
    const after = this.#text[place];
    switch (wanted) {
      case 'start':
        return before === undefined;
      case 'end':
        return after === undefined;
      case 'line_start':
        return before === undefined || before === LINE_FEED;
      case 'line_end':
        return after === undefined || after === LINE_FEED;
      case 'boundary':
        return isIn(WORD, before) !== isIn(WORD, after);
      case 'no_boundary':
        return isIn(WORD, before) === isIn(WORD, after);
      case 'ascii_boundary':
        return isIn(ASCII_WORD, before) !== isIn(ASCII_WORD, after);
      case 'no_ascii_boundary':
        return isIn(ASCII_WORD, before) === isIn(ASCII_WORD, after);
    }
  }
}

const LINE_FEED = 10;
const WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]$/u;
const ASCII_WORD = /^\w$/;

function isIn(set: RegExp, codePoint: number | undefined): boolean {
  return codePoint !== undefined && set.test(String.fromCodePoint(codePoint));
}
