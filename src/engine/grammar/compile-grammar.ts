// The grammar of a custom tool, ready to check inputs, and the patterns of JSON Schemas. Nothing here can take long,
// whatever the grammar or the text: sizes, depths and steps are bounded.
import { GatewayError } from '../../canonical/index.ts';
import { larkRules } from './lark-rules.ts';
import { buildMachine, grammarRoom, type Machine, type Room } from './machine.ts';
import { parseLark } from './parse-lark.ts';
import { parseRegex } from './parse-regex.ts';
import { broken } from './problem.ts';
import { type Budget, type Outcome, recognise } from './recognise.ts';

// Cache of compiled grammars and schemas: clients send the same few every time. Bounded by the size of its entries,
// so that no client can fill the memory with large ones. Knows nothing of what it holds.

/** Together, in states of a machine: a state takes 100 to 600 bytes. */
const MOST_WEIGHT = 100_000;
/** The smallest ones have texts and surroundings as well. */
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
    // A Map iterates in the order of insertion: what was used last goes last.
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.value;
  }

  /**
   * Keeps a value that is not there yet; what was used longest ago goes.
   * @param weight in states of a machine
   */
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
  /** Perhaps right, but we cannot say what matches. */
  | { readonly type: 'uncheckable'; readonly reason: string };

/** Largest grammar that is read, in characters. */
const MAX_GRAMMAR_CHARS = 100_000;
/** Steps for the inputs of one answer: some tens of milliseconds at most. */
const MOST_STEPS = 400_000;

/** By syntax and text. */
const compiled = new CompiledCache<Grammar>();

/**
 * Compiles the grammar of a custom tool.
 * @param path of the definition in the client's body
 * @throws GatewayError `invalid_request` naming `path` for a definition that is no grammar
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
      return { type: 'checkable', machine: buildMachine(rules, first, path, grammarRoom()) };
    }
    return { type: 'checkable', machine: regexMachine(definition, 'rust', path, grammarRoom()) };
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

/** Budget of the inputs of one answer together. */
export function inputBudget(): Budget {
  return { steps: MOST_STEPS };
}

/** Checks the whole input of a call. */
export function checkInput(machine: Machine, input: string, budget: Budget): Outcome {
  return recognise(machine, input, budget);
}

/**
 * Compiles a pattern of a JSON Schema (ECMAScript's syntax; it matches anywhere in a text).
 * @param path of the schema in the client's body
 * @param room for all patterns of the schema
 * @returns a test; one that runs out of the budget's steps counts as passed
 * @throws GatewayError `invalid_request` for what is no pattern, `unsupported` for one that we cannot check
 */
export function compilePattern(
  pattern: string,
  path: string,
  room: Room,
): (text: string, budget: Budget) => boolean {
  const machine = regexMachine(pattern, 'ecma', path, room);
  return (text, budget) => recognise(machine, text, budget, true).type !== 'mismatch';
}
