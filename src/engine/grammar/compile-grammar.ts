// Compiles grammars of custom tools and patterns of JSON Schemas. Sizes, depths and steps are bounded, so that no
// grammar or text takes long.
import { GatewayError } from '../../canonical/index.ts';
import { larkRules } from './lark-rules.ts';
import { buildMachine, grammarCapacity, type Machine, type Room } from './machine.ts';
import { parseLark } from './parse-lark.ts';
import { parseRegex } from './parse-regex.ts';
import { broken } from './problem.ts';
import { type Budget, type Outcome, recognise } from './recognise.ts';

// Cache of compiled grammars and schemas, because clients send the same few repeatedly. Bounded by weight, so that no
// client can fill the memory.

/** Maximum total weight, in states of an automaton; a state takes 100 to 600 bytes. */
const MOST_WEIGHT = 100_000;
/** Maximum entries, because each has fixed overhead. */
const MOST_ENTRIES = 64;

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

export class CompiledCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  get(text: string): Value | undefined {
    const entry = this.#entries.get(text);
    if (!entry) return undefined;
    // A Map iterates in insertion order, so the most recently used entry is moved to the end.
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.value;
  }

  /** Adds a new value and evicts the least recently used. @param weight in states of an automaton */
  set(text: string, value: Value, weight: number): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size < MOST_ENTRIES && this.#weight + weight <= MOST_WEIGHT) break;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
    this.#entries.set(text, { value, weight });
    this.#weight += weight;
  }
}

export type Grammar =
  | { readonly type: 'checkable'; readonly machine: Machine }
  /** The grammar may be valid, but cannot be checked. */
  | { readonly type: 'uncheckable'; readonly reason: string };

/** Maximum characters of a grammar. */
const MAX_GRAMMAR_CHARS = 100_000;
/** Maximum steps for the inputs of one answer: some tens of milliseconds. */
const MOST_STEPS = 400_000;

/** Compiled grammars, by syntax and text. */
const compiled = new CompiledCache<Grammar>();

/**
 * Compiles the grammar of a custom tool.
 * @param path of the definition in the client's body
 * @throws GatewayError `invalid_request` naming `path` for an invalid definition
 */
export function compileGrammar(syntax: 'lark' | 'regex', definition: string, path: string): Grammar {
  if (definition.length > MAX_GRAMMAR_CHARS)
    throw broken(path, `larger than ${MAX_GRAMMAR_CHARS} characters`);
  const key = `${syntax}:${definition}`;
  const known = compiled.get(key);
  if (known) return known;
  const grammar = compile(syntax, definition, path);
  compiled.set(key, grammar, grammar.type === 'checkable' ? grammar.machine.states.length : 0);
  return grammar;
}

function compile(syntax: 'lark' | 'regex', definition: string, path: string): Grammar {
  try {
    if (syntax === 'lark') {
      const { rules, first } = larkRules(parseLark(definition, path), path);
      return { type: 'checkable', machine: buildMachine(rules, first, path, grammarCapacity()) };
    }
    return { type: 'checkable', machine: regexMachine(definition, 'rust', path, grammarCapacity()) };
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'unsupported')
      return { type: 'uncheckable', reason: error.message };
    throw error;
  }
}

function regexMachine(pattern: string, dialect: 'rust' | 'ecma', path: string, room: Room): Machine {
  const rules = new Map([['pattern', parseRegex(pattern, dialect, '', path)]]);
  return buildMachine(rules, 'pattern', path, room);
}

/** Budget shared by all inputs of one answer. */
export function inputBudget(): Budget {
  return { steps: MOST_STEPS };
}

/** Checks the whole input of a call. */
export function checkInput(machine: Machine, input: string, budget: Budget): Outcome {
  return recognise(machine, input, budget);
}

/**
 * Compiles a pattern of a JSON Schema (ECMAScript syntax; matches anywhere in a text).
 * @param path of the schema in the client's body
 * @param room capacity shared by all patterns of the schema
 * @returns a test; it passes when the budget is exhausted
 * @throws GatewayError `invalid_request` for an invalid pattern, `unsupported` for one that cannot be checked
 */
export function compilePattern(
  pattern: string,
  path: string,
  room: Room,
): (text: string, budget: Budget) => boolean {
  const machine = regexMachine(pattern, 'ecma', path, room);
  return (text, budget) => recognise(machine, text, budget, true).type !== 'mismatch';
}
