// Edits the top-level members of a JSON object in its text, leaving every other byte alone: how the relay lane
// patches an envelope without re-serialising the content. Works on byte strings and on text alike. Never parses.
import { isWrittenAsIs, type JsonValue, type MemberEdits } from '../base/json/index.ts';

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

/**
 * The same object with some members changed or removed, in one walk over its members, which ends early where nothing is
 * removed: envelopes come first. Of a key that stands twice, the first is changed.
 */
export function editMembers(text: string, { set, remove = NONE }: MemberEdits): string {
  const missing = Object.keys(set);
  let out = '';
  let copied = 0;
  /** Offset of the first of the members that go; -1: the one before stays. */
  let cut = -1;
  /** Behind the last of them. */
  let gone = 0;
  /** Behind the last member that stays; -1: none does. */
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
    // The comma behind a member goes with it.
    if (cut >= 0) {
      out += text.slice(copied, cut);
      copied = from;
      cut = -1;
    }
    kept = to;
    const wanted = missing.indexOf(key);
    if (wanted < 0) continue;
    // By the name of the edit, which the runtime knows by heart, unlike one that was cut out of a text.
    const name = missing[wanted] ?? key;
    missing.splice(wanted, 1);
    out += text.slice(copied, valueFrom) + toAscii(set[name] ?? null);
    copied = to;
  }
  // The comma before the last member goes with it.
  if (cut >= 0) {
    out += text.slice(copied, kept < 0 ? cut : skipSpace(text, kept));
    copied = gone;
  }
  if (missing.length === 0) return copied === 0 ? text : out + text.slice(copied);
  const added = missing.map((key) => `${toAscii(key)}:${toAscii(set[key] ?? null)}`).join(',');
  return `${out}${text.slice(copied, at)}${kept < 0 ? '' : ','}${added}${text.slice(at)}`;
}

/** The same object with members changed inside of the object that stands under `key`; as it is where none stands there. */
export function editMemberObject(text: string, key: string, edits: MemberEdits): string {
  const member = topLevelMembers(text).findLast((each) => each.key === key);
  if (!member) return text;
  const from = skipSpace(text, text.indexOf(':', stringEnd(text, member.from)) + 1);
  if (text[from] !== '{') return text;
  return text.slice(0, from) + editMembers(text.slice(from, member.to), edits) + text.slice(member.to);
}

/** JSON text in ASCII only, so that it may be put into a byte string. */
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
  if (first === QUOTE) return stringEnd(text, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(text, from);
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (!(code > 32) || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) return at;
    at++;
  }
}

/** @param from offset of the opening bracket; @returns offset behind the closing one */
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
