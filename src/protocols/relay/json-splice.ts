// Edits top-level members of a JSON object in its text, without parsing it. The relay lane patches envelopes with it,
// so that content is not serialized again. Works on byte strings and on text.
import { isWrittenAsIs, type JsonValue, type MemberEdits } from '../../base/json/index.ts';

interface Member {
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly from: number;
  /** Offset behind the value. */
  readonly to: number;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const NONE: readonly string[] = [];

/** Returns the members of a JSON object, in order. The text must be valid JSON. */
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

/** @param from offset behind a value @returns offset of the next key, or of the end of the object */
function nextMember(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at;
}

function keyAt(text: string, from: number, end: number): string {
  const raw = text.slice(from + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

/**
 * Returns the object with some members changed or removed. Of a duplicate member, the first is changed. If nothing is
 * to be removed, the single pass stops early: envelopes usually come first.
 */
export function editMembers(text: string, { set, remove = NONE }: MemberEdits): string {
  const missing = Object.keys(set);
  let out = '';
  let copied = 0;
  /** Offset of the first member of a removed run; -1: there is no run. */
  let cut = -1;
  /** Offset behind the last member of the removed run. */
  let gone = 0;
  /** Offset behind the last member that stays; -1: there is none. */
  let kept = -1;
  let at = firstMember(text);
  while (text.charCodeAt(at) === QUOTE && (missing.length > 0 || remove.length > 0)) {
    const from = at;
    const keyEnd = stringEnd(text, from);
    const key = keyAt(text, from, keyEnd);
    const valueFrom = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const to = valueEnd(text, valueFrom);
    at = nextMember(text, to);
    if (remove.includes(key)) {
      if (cut < 0) cut = from;
      gone = to;
      continue;
    }
    // A removed member takes the comma behind it along.
    if (cut >= 0) {
      out += text.slice(copied, cut);
      copied = from;
      cut = -1;
    }
    kept = to;
    const wanted = missing.indexOf(key);
    if (wanted < 0) continue;
    // The lookup uses the name from `set`, an interned string, because it is faster than with a substring.
    const name = missing[wanted] ?? key;
    missing.splice(wanted, 1);
    out += text.slice(copied, valueFrom) + toAscii(set[name] ?? null);
    copied = to;
  }
  // A removed last member takes the comma before it along.
  if (cut >= 0) {
    out += text.slice(copied, kept < 0 ? cut : skipSpace(text, kept));
    copied = gone;
  }
  if (missing.length === 0) return copied === 0 ? text : out + text.slice(copied);
  const added = missing.map((key) => `${toAscii(key)}:${toAscii(set[key] ?? null)}`).join(',');
  return `${out}${text.slice(copied, at)}${kept < 0 ? '' : ','}${added}${text.slice(at)}`;
}

/** Returns the text with members changed in the object under `key`; unchanged if there is no such object. */
export function editMemberObject(text: string, key: string, edits: MemberEdits): string {
  const member = topLevelMembers(text).findLast((each) => each.key === key);
  if (!member) return text;
  const from = skipSpace(text, text.indexOf(':', stringEnd(text, member.from)) + 1);
  if (text[from] !== '{') return text;
  return text.slice(0, from) + editMembers(text.slice(from, member.to), edits) + text.slice(member.to);
}

/** Returns JSON in ASCII, so that it can be inserted into a byte string. */
function toAscii(value: JsonValue): string {
  if (typeof value === 'string' && isWrittenAsIs(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  if (!/[^\x00-\x7f]/.test(text)) return text;
  return text.replace(
    /[^\x00-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns the length of the string value of the first of `keys` that has one, without parsing. Escapes count as
 * written. 0: none has one.
 * @param text of one event
 * @param keys with quotes and colon
 * @param from offset at which the search begins
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

/** @param from offset of the opening quote @returns offset behind the closing one */
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
  if (first === QUOTE) return stringEnd(text, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(text, from);
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (!(code > 32) || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return at;
    at++;
  }
}

/** @param from offset of the opening bracket @returns offset behind the closing one */
function containerEnd(text: string, from: number): number {
  const { length } = text;
  let depth = 0;
  let at = from;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      continue;
    }
    at++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return length;
}
