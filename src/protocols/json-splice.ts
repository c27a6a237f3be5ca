// Edits the top-level members of a JSON object in its text, leaving every other byte alone: how the relay lane
// patches an envelope without re-serialising the content. Works on byte strings and on text alike.
import type { JsonValue } from '../canonical/index.ts';

interface Member {
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly from: number;
  readonly valueFrom: number;
  /** Offset behind the value. */
  readonly to: number;
}

const STRUCTURE = /["[\]{}]/g;

/**
 * The members of a JSON object, in order. The text must be valid JSON.
 * @param wanted stop as soon as all of these keys were seen
 */
export function topLevelMembers(text: string, wanted?: ReadonlySet<string>): Member[] {
  const members: Member[] = [];
  let missing = wanted?.size ?? -1;
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (missing !== 0 && text.charCodeAt(at) === 34) {
    const from = at;
    const keyEnd = stringEnd(text, at);
    const raw = text.slice(from + 1, keyEnd - 1);
    const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    const valueFrom = skipSpace(text, text.indexOf(':', keyEnd) + 1);
    const to = valueEnd(text, valueFrom);
    members.push({ key, from, valueFrom, to });
    if (wanted?.has(key)) missing--;
    at = skipSpace(text, to);
    if (text.charCodeAt(at) !== 44) break;
    at = skipSpace(text, at + 1);
  }
  return members;
}

export interface MemberEdits {
  /** New values; a key that is not there is appended. */
  readonly set: Readonly<Record<string, JsonValue>>;
  readonly remove?: readonly string[] | undefined;
}

/** The same object with some members changed or removed. */
export function editMembers(text: string, edits: MemberEdits): string {
  const setKeys = Object.keys(edits.set);
  const remove = edits.remove ?? [];
  const members = topLevelMembers(text, remove.length === 0 ? new Set(setKeys) : undefined);
  const done = new Set<string>();
  let out = '';
  let copied = 0;
  members.forEach((member, position) => {
    if (remove.includes(member.key)) {
      const next = members[position + 1];
      // The comma behind the member goes with it; the last member takes the comma before it instead.
      if (next) {
        out += text.slice(copied, member.from);
        copied = next.from;
      } else {
        out = `${out}${text.slice(copied, member.from)}`.replace(/,\s*$/, '');
        copied = member.to;
      }
    } else if (Object.hasOwn(edits.set, member.key)) {
      out += text.slice(copied, member.valueFrom) + toAscii(edits.set[member.key] ?? null);
      copied = member.to;
      done.add(member.key);
    }
  });
  out += text.slice(copied);
  for (const key of setKeys) {
    if (done.has(key)) continue;
    const end = out.lastIndexOf('}');
    const empty = /\{\s*$/.test(out.slice(0, end));
    out = `${out.slice(0, end)}${empty ? '' : ','}${JSON.stringify(key)}:${toAscii(edits.set[key] ?? null)}${out.slice(end)}`;
  }
  return out;
}

/** JSON text in ASCII only, so that it may be put into a byte string. */
function toAscii(value: JsonValue): string {
  const text = JSON.stringify(value);
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.replace(
    /[^\x00-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
