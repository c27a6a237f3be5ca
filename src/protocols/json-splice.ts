// Edits the top-level members of a JSON object in its text, leaving every other byte alone: how the relay lane
// patches an envelope without re-serialising the content. Works on byte strings and on text alike. Never parses.
import type { JsonValue } from '../canonical/index.ts';

interface Member {
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly from: number;
  /** Offset behind the value. */
  readonly to: number;
}

const QUOTE = 34;
const COMMA = 44;
/** Text that JSON writes as it is. */
const PLAIN = /^[\w\-./:@ ]*$/;
const STRUCTURE = /["[\]{}]/g;

/** The members of a JSON object, in order. The text must be valid JSON. */
export function topLevelMembers(text: string): Member[] {
  const members: Member[] = [];
  let at = firstMember(text);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    const to = valueEnd(text, skipSpace(text, text.indexOf(':', keyEnd) + 1));
    members.push({ key: keyAt(text, at, keyEnd), from: at, to });
    at = nextMember(text, to);
  }
  return members;
}

function firstMember(text: string): number {
  return skipSpace(text, text.indexOf('{') + 1);
}

/** @param from offset behind a value; @returns offset of the next key, or of the end of the object */
function nextMember(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

function keyAt(text: string, from: number, end: number): string {
  const raw = text.slice(from + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

export interface MemberEdits {
  /** New values; a key that is not there is appended. */
  readonly set: Readonly<Record<string, JsonValue>>;
  readonly remove?: readonly string[] | undefined;
}

/** The same object with some members changed or removed. Of a key that stands twice, the first is changed. */
export function editMembers(text: string, edits: MemberEdits): string {
  const remove = edits.remove ?? [];
  const rest = remove.length === 0 ? text : removeMembers(text, new Set(remove));
  return setMembers(rest, edits.set);
}

/** The same object with members changed inside of the object that stands under `key`; as it is where none stands there. */
export function editMemberObject(text: string, key: string, edits: MemberEdits): string {
  const member = topLevelMembers(text).findLast((each) => each.key === key);
  if (!member) return text;
  const from = skipSpace(text, text.indexOf(':', stringEnd(text, member.from)) + 1);
  if (text[from] !== '{') return text;
  return text.slice(0, from) + editMembers(text.slice(from, member.to), edits) + text.slice(member.to);
}

/** One walk, which ends at the last of the wanted members: envelopes come first, contents are not looked at. */
function setMembers(text: string, set: MemberEdits['set']): string {
  let missing = Object.keys(set);
  let out = '';
  let copied = 0;
  let at = firstMember(text);
  while (missing.length > 0 && text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    const key = keyAt(text, at, keyEnd);
    const valueFrom = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const to = valueEnd(text, valueFrom);
    const value = missing.includes(key) ? set[key] : undefined;
    if (value !== undefined) {
      out += text.slice(copied, valueFrom) + toAscii(value);
      copied = to;
      missing = missing.filter((other) => other !== key);
    }
    at = nextMember(text, to);
  }
  out = copied === 0 ? text : out + text.slice(copied);
  return missing.length === 0 ? out : appendMembers(out, set, missing);
}

function appendMembers(text: string, set: MemberEdits['set'], keys: readonly string[]): string {
  const end = text.lastIndexOf('}');
  let comma = text.charCodeAt(firstMember(text)) === QUOTE ? ',' : '';
  let added = '';
  for (const key of keys) {
    added += `${comma}${toAscii(key)}:${toAscii(set[key] ?? null)}`;
    comma = ',';
  }
  return text.slice(0, end) + added + text.slice(end);
}

function removeMembers(text: string, keys: ReadonlySet<string>): string {
  const members = topLevelMembers(text);
  let out = '';
  let copied = 0;
  members.forEach((member, position) => {
    if (!keys.has(member.key)) return;
    const next = members[position + 1];
    // The comma behind the member goes with it; the last member takes the comma before it instead.
    if (next) {
      out += text.slice(copied, member.from);
      copied = next.from;
    } else {
      out = `${out}${text.slice(copied, member.from)}`.replace(/,\s*$/, '');
      copied = member.to;
    }
  });
  return out + text.slice(copied);
}

/** JSON text in ASCII only, so that it may be put into a byte string. */
function toAscii(value: JsonValue): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  if (!/[^\x00-\x7f]/.test(text)) return text;
  return text.replace(
    /[^\x00-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Length of the text under the first of `keys` that has one, read off JSON that is not parsed: escapes count as they
 * are written. 0 where none has.
 * @param text of one event: it is searched to its end
 * @param keys with their quotes and colon
 * @param from where the search begins
 */
export function writtenLength(text: string, keys: readonly string[], from: number): number {
  for (const key of keys) {
    const at = text.indexOf(key, from);
    if (at < 0) continue;
    const start = skipSpace(text, at + key.length);
    if (text.charCodeAt(start) === QUOTE) return stringEnd(text, start) - start - 2;
  }
  return 0;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** @param from offset of the opening quote; @returns offset behind the closing one */
function stringEnd(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}

function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === 34) return stringEnd(text, from);
  if (first !== 123 && first !== 91) {
    let at = from;
    for (;;) {
      const code = text.charCodeAt(at);
      if (!(code > 32) || code === 44 || code === 125 || code === 93) return at;
      at++;
    }
  }
  let depth = 0;
  STRUCTURE.lastIndex = from;
  for (;;) {
    const match = STRUCTURE.exec(text);
    if (!match) return text.length;
    switch (match[0]) {
      case '"':
        STRUCTURE.lastIndex = stringEnd(text, match.index);
        break;
      case '{':
      case '[':
        depth++;
        break;
      default:
        if (--depth === 0) return match.index + 1;
    }
  }
}
