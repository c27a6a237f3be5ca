// Finds a string that matches a regular expression of a schema: one of the given words, or one generated from the
// expression. Supports literals, classes, groups, alternatives and repetition, but no lookaround.

/**
 * A string that matches `pattern`.
 * @param words tried first
 * @param least minimum length
 * @param most maximum length
 * @returns the best guess if no match was found
 */
export function matchingString(
  pattern: string,
  words: readonly string[],
  least: number,
  most: number,
): string {
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, 'u');
  } catch {
    return words[0] ?? 'example';
  }
  const steps = costOf(pattern);
  const fits = (text: string): boolean =>
    text.length >= least && text.length <= most && steps(text.length) <= MOST_STEPS && expression.test(text);
  // Extra repetitions lengthen the sample if the schema requires a longer string.
  const samples = [0, 1, 2, 4, 8, 16, 32].map((extra) => new Sampler(pattern, extra).sample());
  return (
    [...words, ...words.map((word) => word.toLowerCase()), ...samples].find(fits) ?? samples[1] ?? 'example'
  );
}

/** Maximum number of backtracking steps of a match, which takes a few milliseconds. */
const MOST_STEPS = 5_000_000;
const REPEATS: ReadonlySet<string> = new Set(['*', '+', '{']);

/**
 * Upper bound of the steps to match a text of a given length. Clients supply the patterns, and the engine backtracks:
 * a repetition can try every length, a choice both ways, and a repeated group with either is unbounded.
 */
function costOf(pattern: string): (length: number) => number {
  let repeats = 0;
  let choices = 0;
  /** Repetitions and choices before each open group. */
  const groups: number[] = [];
  let nested = false;
  for (let at = 0; at < pattern.length; at++) {
    const c = pattern.charAt(at);
    if (c === '\\') at++;
    else if (c === '(') {
      groups.push(repeats + choices);
      if (pattern.charAt(at + 1) === '?') at++;
    } else if (c === ')') {
      const before = groups.pop() ?? 0;
      if (REPEATS.has(pattern.charAt(at + 1)) && repeats + choices > before) nested = true;
    } else if (REPEATS.has(c)) repeats++;
    else if (c === '?' || c === '|') choices++;
  }
  return (length) => (nested ? Infinity : (length + 1) ** (repeats + 1) * 2 ** choices);
}

/** Maximum length of a sample, in characters. */
const LONGEST = 10_000;
/** Maximum depth of alternatives, so that a hostile pattern cannot exhaust the stack. */
const DEEPEST = 50;

class Sampler {
  readonly #pattern: string;
  readonly #extra: number;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, extra: number) {
    this.#pattern = pattern;
    this.#extra = extra;
  }

  sample(): string {
    return this.#alternatives().slice(0, LONGEST);
  }

  /** Samples the first of several alternatives and skips the others. */
  #alternatives(): string {
    if (++this.#depth > DEEPEST) return '';
    const first = this.#sequence();
    while (this.#peek() === '|') {
      this.#at++;
      this.#sequence();
    }
    this.#depth--;
    return first;
  }

  #sequence(): string {
    let text = '';
    for (let c = this.#peek(); c !== '' && c !== '|' && c !== ')'; c = this.#peek()) {
      const atom = this.#atom();
      const count = this.#count();
      if (atom !== '' && text.length < LONGEST)
        text += atom.repeat(Math.min(count, Math.ceil(LONGEST / atom.length)));
    }
    return text;
  }

  #atom(): string {
    const c = this.#next();
    if (c === '^' || c === '$') return '';
    if (c === '.') return 'a';
    if (c === '[') return this.#class();
    if (c === '\\') return escaped(this.#next());
    if (c !== '(') return c;
    if (this.#peek() === '?') {
      this.#at++;
      // Skips the name of `(?<name>`; `(?:` has none.
      if (this.#next() === '<') while (this.#peek() !== '' && this.#next() !== '>');
    }
    const inner = this.#alternatives();
    this.#next();
    return inner;
  }

  /** Samples one character of a class. */
  #class(): string {
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    const members: string[] = [];
    while (this.#peek() !== '' && this.#peek() !== ']') {
      const c = this.#next();
      members.push(c === '\\' ? escaped(this.#next()) : c);
    }
    this.#next();
    if (!negated) return members[0] ?? '';
    return ['a', '0', ' ', '_', '-'].find((c) => !members.includes(c)) ?? 'x';
  }

  /** Number of repetitions of the preceding atom. */
  #count(): number {
    const c = this.#peek();
    if (c === '*') return this.#quantified(this.#extra);
    if (c === '+') return this.#quantified(Math.max(1, this.#extra));
    if (c === '?') return this.#quantified(this.#extra > 0 ? 1 : 0);
    if (c !== '{') return 1;
    const end = this.#pattern.indexOf('}', this.#at);
    const [low, high] = this.#pattern.slice(this.#at + 1, end).split(',');
    this.#at = end;
    const least = Number(low);
    const most = high === undefined ? least : high === '' ? Infinity : Number(high);
    return this.#quantified(Math.min(most, 1000, least + this.#extra) || 0);
  }

  #quantified(count: number): number {
    this.#at++;
    if (this.#peek() === '?') this.#at++;
    return count;
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? '';
  }

  #next(): string {
    return this.#pattern[this.#at++] ?? '';
  }
}

function escaped(c: string): string {
  switch (c) {
    case 'd':
      return '1';
    case 'w':
      return 'a';
    case 's':
      return ' ';
    case 'D':
    case 'S':
      return 'a';
    case 'W':
      return '-';
    case 'b':
    case 'B':
      return '';
    default:
      return c;
  }
}
