// Parses regular expressions in the syntax of Rust's regex crate or of ECMAScript. Features that need backtracking
// (lookaround, backreferences) are reported as unsupported.
import { TEXTS } from '../../canonical/index.ts';
import { exactly, membersSet, type CharSet } from './char-set.ts';
import { choice, EMPTY_EXPRESSION, sequence, type Expression } from './expression.ts';
import { cannotCheck, broken } from './problem.ts';
import { readCharEscape, readClass, readClassEscape } from './regex-class.ts';
import { RegexCursor, type RegexDialect } from './regex-cursor.ts';

/**
 * `i` ignores case, `s` lets a dot match line breaks, `m` anchors at lines, `x` ignores white space. Others have no
 * effect.
 */
type Flags = ReadonlySet<string>;

/** Length of `{999999,999999}`. */
const LONGEST_BOUNDS = 15;
/** Maximum consecutive quantifiers, because each nests what precedes it. */
const MOST_QUANTIFIERS = 20;

/**
 * Parses a pattern.
 * @param flags letters of the flags that apply from its beginning
 * @param path of the pattern in the client's body
 * @throws GatewayError `invalid_request` for an invalid pattern, `unsupported` for one that cannot be matched in linear
 * time
 */
export function parseRegex(pattern: string, dialect: RegexDialect, flags: string, path: string): Expression {
  const cursor = new RegexCursor(pattern, dialect, path);
  const whole = readAlternatives(cursor, new Set(flags));
  if (!cursor.isAtEnd) throw broken(path, 'a closing parenthesis has no opening parenthesis');
  return whole;
}

/** Reads up to a closing parenthesis, which is not consumed, or the end. */
function readAlternatives(cursor: RegexCursor, outer: Flags): Expression {
  let flags = outer;
  const options: Expression[] = [];
  let parts: Expression[] = [];
  while (!cursor.isAtEnd && !cursor.sees(')')) {
    if (cursor.take('|')) {
      options.push(sequence(parts));
      parts = [];
      continue;
    }
    if (flags.has('x') && skipSpace(cursor)) continue;
    const changed = cursor.sees('(?') ? readFlags(cursor, flags) : undefined;
    if (changed?.rest) flags = changed.flags;
    else {
      const inner = changed?.flags ?? flags;
      const atom = changed ? readGroup(cursor, inner) : readAtom(cursor, flags);
      parts.push(readQuantifiers(cursor, atom, flags));
    }
  }
  options.push(sequence(parts));
  return choice(options);
}

/**
 * Reads `(?flags)` or `(?flags:`. Undefined: it is another kind of group, and nothing was consumed.
 * @returns `rest`: the flags apply to the rest of the enclosing group
 */
function readFlags(
  cursor: RegexCursor,
  flags: Flags,
): { readonly flags: Flags; readonly rest: boolean } | undefined {
  if (cursor.sees('(?P') || cursor.sees('(?<') || cursor.sees('(?=') || cursor.sees('(?!')) return undefined;
  cursor.read(2);
  const changed = new Set(flags);
  let on = true;
  for (;;) {
    const letter = cursor.next();
    if (letter === ')' || letter === ':') return { flags: changed, rest: letter === ')' };
    if (letter === '-') on = false;
    else if (!/[imsxuUR]/.test(letter)) throw broken(cursor.path, `(?${letter} is not a valid group`);
    else if (on) changed.add(letter);
    else changed.delete(letter);
  }
}

function readAtom(cursor: RegexCursor, flags: Flags): Expression {
  const char = cursor.next();
  switch (char) {
    case '(':
      if (cursor.take('?')) readName(cursor);
      return readGroup(cursor, flags);
    case '[':
      return { type: 'char', set: safeSet(readClass(cursor), flags, cursor.path) };
    case '.': {
      const stops = cursor.dialect === 'rust' ? '\\n' : '\\n\\r\\u2028\\u2029';
      return { type: 'char', set: membersSet(flags.has('s') ? '' : stops, true, false) };
    }
    case '^':
      return { type: 'place', place: flags.has('m') ? 'line_start' : 'start' };
    case '$':
      return { type: 'place', place: flags.has('m') ? 'line_end' : 'end' };
    case '\\':
      return readEscape(cursor, flags);
    case '*':
    case '+':
    case '?':
      throw broken(cursor.path, `${char} has nothing to repeat`);
    default:
      return { type: 'char', set: exactly(char.codePointAt(0) ?? 0, flags.has('i')) };
  }
}

/** Reads a group name after `(?`, which does not affect matching. */
function readName(cursor: RegexCursor): void {
  cursor.take('P');
  if (cursor.sees('=') || cursor.sees('!') || cursor.sees('<=') || cursor.sees('<!'))
    throw cannotCheck(cursor.path, 'it uses lookahead or lookbehind');
  if (!cursor.take('<') || !/^[\p{L}_][\p{L}\p{N}_.[\]]*$/u.test(cursor.until('>') ?? ''))
    throw broken(cursor.path, 'a group has no name');
}

/** Reads a group after its opening syntax, including the closing parenthesis. */
function readGroup(cursor: RegexCursor, flags: Flags): Expression {
  const body = cursor.deeper(() => readAlternatives(cursor, flags));
  if (!cursor.take(')')) throw broken(cursor.path, 'an opening parenthesis has no closing parenthesis');
  return body;
}

function readEscape(cursor: RegexCursor, flags: Flags): Expression {
  if (cursor.dialect === 'ecma') {
    if (cursor.take('b')) return { type: 'place', place: 'ascii_boundary' };
    if (cursor.take('B')) return { type: 'place', place: 'no_ascii_boundary' };
  } else {
    if (cursor.take('b')) return { type: 'place', place: 'boundary' };
    if (cursor.take('B')) return { type: 'place', place: 'no_boundary' };
    if (cursor.take('A')) return { type: 'place', place: 'start' };
    if (cursor.take('z')) return { type: 'place', place: 'end' };
  }
  const members = readClassEscape(cursor);
  if (members !== undefined) return { type: 'char', set: safeSet(members, flags, cursor.path) };
  return { type: 'char', set: exactly(readCharEscape(cursor), flags.has('i')) };
}

function readQuantifiers(cursor: RegexCursor, atom: Expression, flags: Flags): Expression {
  let body = atom;
  for (let count = 0; ; count++) {
    if (count > MOST_QUANTIFIERS) throw broken(cursor.path, 'too many consecutive quantifiers');
    if (flags.has('x') && skipSpace(cursor)) continue;
    const bounds = readBounds(cursor);
    if (!bounds) return body;
    // Lazy quantifiers do not change whether the whole text matches.
    cursor.take('?');
    if (bounds.max !== null && bounds.max < bounds.min) throw broken(cursor.path, TEXTS.repetitionOrder);
    body = bounds.max === 0 ? EMPTY_EXPRESSION : { type: 'repeat', body, ...bounds };
  }
}

function readBounds(cursor: RegexCursor): { readonly min: number; readonly max: number | null } | undefined {
  if (cursor.take('*')) return { min: 0, max: null };
  if (cursor.take('+')) return { min: 1, max: null };
  if (cursor.take('?')) return { min: 0, max: 1 };
  // A brace that is not a bound stands for itself.
  const bounds = /^\{(\d{1,6})(,?)(\d{0,6})\}/.exec(cursor.ahead(LONGEST_BOUNDS));
  if (!bounds) return undefined;
  cursor.read(bounds[0].length);
  const min = Number(bounds[1]);
  if (!bounds[2]) return { min, max: min };
  return { min, max: bounds[3] ? Number(bounds[3]) : null };
}

/** Skips white space and comments under the flag `x`. */
function skipSpace(cursor: RegexCursor): boolean {
  if (cursor.take('#')) {
    while (!cursor.isAtEnd && cursor.next() !== '\n');
    return true;
  }
  if (!/^\s$/.test(cursor.peek)) return false;
  cursor.next();
  return true;
}

/** The runtime may not know a class that was parsed. */
function safeSet(members: string, flags: Flags, path: string): CharSet {
  try {
    return membersSet(members, false, flags.has('i'));
  } catch {
    throw cannotCheck(path, `the class ${members.slice(0, 40)} is not supported`);
  }
}
