// Character classes and class escapes of regular expressions, converted to the runtime's syntax for class members.
import { literal, membersSet } from './char-set.ts';
import { cannotCheck, broken } from './problem.ts';
import type { RegexCursor } from './regex-cursor.ts';

/** Rust's `\d`, `\w` and `\s` cover Unicode (regex crate, "Perl character classes", 2026-11); ECMAScript's do not. */
const RUST: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  w: '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}',
  s: '\\p{White_Space}',
};
const ECMA: Readonly<Record<string, string>> = { d: '\\d', w: '\\w', s: '\\s' };

/** regex crate, "ASCII character classes" (2026-11). */
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\t\\n\\v\\f\\r\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };
const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads a class after its `[`, including its `]`. @returns members that make up the whole class */
export function readClass(cursor: RegexCursor): string {
  const negated = cursor.take('^');
  let members = '';
  // In Rust, a bracket that would close an empty class is a literal.
  if (cursor.dialect === 'rust' && cursor.take(']')) members = literal(0x5d);
  for (;;) {
    if (cursor.take(']')) return `[${negated ? '^' : ''}${members}]`;
    if (cursor.isAtEnd) throw broken(cursor.path, 'a character class is not closed');
    if (cursor.dialect === 'rust') {
      const operator = cursor.take('&&') ? '&&' : cursor.take('--') ? '--' : undefined;
      if (operator) {
        const right = readClass(cursor);
        return `[${negated ? '^' : ''}[${members}]${operator}${right}]`;
      }
      if (cursor.take('[:')) {
        members += readPosix(cursor);
        continue;
      }
      if (cursor.take('[')) {
        members += cursor.deeper(() => readClass(cursor));
        continue;
      }
    }
    members += readMember(cursor);
  }
}

function readMember(cursor: RegexCursor): string {
  const from = readCharOrEscape(cursor);
  if (typeof from === 'string') return from;
  if (!cursor.sees('-') || cursor.sees('-]') || (cursor.dialect === 'rust' && cursor.sees('--')))
    return literal(from);
  cursor.take('-');
  const to = readCharOrEscape(cursor);
  // `[a-\d]` is not a range: ECMAScript takes the dash literally.
  if (typeof to === 'string') return literal(from) + literal(0x2d) + to;
  if (to < from) throw broken(cursor.path, 'a character range is out of order');
  return `${literal(from)}-${literal(to)}`;
}

/** One character as a code point, or the members of a class escape. */
function readCharOrEscape(cursor: RegexCursor): number | string {
  const char = cursor.next();
  if (char !== '\\') return char.codePointAt(0) ?? 0;
  if (cursor.take('b')) return 8;
  return readClassEscape(cursor) ?? readCharEscape(cursor);
}

function readPosix(cursor: RegexCursor): string {
  const negated = cursor.take('^');
  const name = cursor.until(':]');
  const members = name === undefined ? undefined : POSIX[name];
  if (members === undefined) throw broken(cursor.path, 'it uses an unknown POSIX class');
  return `[${negated ? '^' : ''}${members}]`;
}

/**
 * Reads `d`, `w`, `s`, `p` and their negations after a backslash. Undefined: another escape, and nothing was consumed.
 */
export function readClassEscape(cursor: RegexCursor): string | undefined {
  const name = cursor.peek;
  const kind = name.toLowerCase();
  if (!/^[dwspDWSP]$/.test(name)) return undefined;
  cursor.next();
  const negation = name === kind ? '' : '^';
  if (kind !== 'p') return `[${negation}${(cursor.dialect === 'rust' ? RUST : ECMA)[kind]}]`;
  const property = cursor.take('{') ? cursor.until('}') : cursor.next();
  const members = property === undefined ? undefined : propertyMembers(property);
  if (members === undefined)
    throw cannotCheck(cursor.path, `the property \\p{${property ?? ''}} is not supported`);
  return `[${negation}${members}]`;
}

/** In Rust, script names need no `Script=`. */
function propertyMembers(property: string): string | undefined {
  if (!/^\^?[\w=]{1,60}$/.test(property)) return undefined;
  const name = property.replace('^', '');
  for (const members of [`\\p{${name}}`, `\\p{Script=${name}}`]) {
    const whole = property === name ? members : `[^${members}]`;
    try {
      membersSet(whole, false, false);
      return whole;
    } catch {
      // Unknown to the runtime under this name.
    }
  }
  return undefined;
}

/** Reads an escaped character after a backslash. */
export function readCharEscape(cursor: RegexCursor): number {
  const char = cursor.next();
  const control = CONTROLS[char];
  if (control !== undefined) return control;
  const length = HEX_LENGTH[char];
  if (length !== undefined) {
    const digits = cursor.take('{') ? cursor.until('}') : cursor.read(length);
    const codePoint = /^[0-9a-fA-F]{1,8}$/.test(digits ?? '') ? parseInt(digits ?? '', 16) : Infinity;
    if (codePoint > 0x10ffff) throw broken(cursor.path, `\\${char} must be followed by a character code`);
    return codePoint;
  }
  if (cursor.dialect === 'ecma' && char === '0' && !/\d/.test(cursor.peek)) return 0;
  if (cursor.dialect === 'ecma' && char === 'c' && /[a-zA-Z]/.test(cursor.peek))
    return cursor.next().charCodeAt(0) % 32;
  if (char === 'a' && cursor.dialect === 'rust') return 7;
  if (/[0-9]/.test(char) || char === 'k') throw cannotCheck(cursor.path, 'it uses a backreference');
  if (/[a-zA-Z]/.test(char) && cursor.dialect === 'rust')
    throw broken(cursor.path, `\\${char} is not a valid escape`);
  return char.codePointAt(0) ?? 0;
}
