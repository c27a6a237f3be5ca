// Checks and places of a client's JSON before it is parsed: depth, number of values, names that stand twice,
// characters that no other reader would take, and the places of its members. One pass over the bytes, without
// recursion and without an allocation per value. Judges no grammar: the parser does, which comes next.
import {
  nameIn,
  nextHalf,
  scalarEndIn,
  skipSpaceIn,
  stringEndIn,
  unpairedFrom,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  LETTER_U,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './text.ts';

/** Deepest nesting that a client may send: far more than any real schema, far less than would hurt. */
export const MAX_DEPTH = 128;
/** Most JSON values in what a client sends: a request of two thousand messages with tools has some ten thousand. */
export const MAX_VALUES = 500_000;
/** Most members of one object, and of all objects together: a parser takes much longer for a name than for a value. */
export const MAX_MEMBERS = 10_000;
export const MAX_ALL_MEMBERS = 250_000;
/** Most escapes of two characters (`\\n`, `\\"`) in all strings together: each costs as much as ten plain characters. */
export const MAX_ESCAPES = 6_000_000;

/** Why a text must not be parsed. */
export interface JsonFault {
  /** Path, e.g. `messages[2].content`; '' for the whole. */
  readonly path: string;
  /** Problem, as the rest of a sentence that begins with the path. */
  readonly message: string;
}

/** Names of an object that are compared one by one: so many short ones. An object with others gets a set. */
const FEW = 12;
/** Bytes of a short name. */
const SHORT = 64;
/** Bytes behind an escape in which the next one is looked for before it is searched for. */
const NEAR = 32;

// Open containers of the running scan, by depth. A scan is never interrupted, so one of each serves all.
const inArray = new Uint8Array(MAX_DEPTH);
/** Elements of an array before this one; names of an object that are compared one by one, or more than `FEW`. */
const counts = new Int32Array(MAX_DEPTH);
const hashes = new Int32Array(MAX_DEPTH * FEW);
/** Places of names, between their quotes. */
const froms = new Int32Array(MAX_DEPTH * FEW);
const ends = new Int32Array(MAX_DEPTH * FEW);
/** The same of the member that is read. */
const nameFrom = new Int32Array(MAX_DEPTH);
const nameEnd = new Int32Array(MAX_DEPTH);
const manyNames: (Set<string> | undefined)[] = Array.from({ length: MAX_DEPTH });
let hasManyNames = false;

/** A member of the outermost object, in offsets of the text's bytes. */
export interface MemberPlace {
  /** As it is meant, whatever was escaped. */
  readonly name: string;
  /** The opening quote of its name. */
  readonly from: number;
  readonly valueFrom: number;
  /** Behind its value. */
  readonly to: number;
}

export interface JsonScan {
  /** The first thing for which the text must be refused; also absent before a mistake, which the parser names. */
  readonly fault?: JsonFault | undefined;
  /** In their order; none where the text is no object. They hold where the parser takes the text. */
  readonly members: readonly MemberPlace[];
}

/**
 * Looks through a client's JSON. It must be refused for nesting beyond 128 levels, too many values, members or escapes, a
 * name that stands twice in an object (however it is escaped), the name `__proto__`, and half of a surrogate pair.
 * @param bytes valid UTF-8
 */
export function scanJson(bytes: Buffer): JsonScan {
  const members: MemberPlace[] = [];
  // No smaller text can hold them.
  if (bytes.length > 2 * MAX_ESCAPES && escapesMore(bytes))
    return { fault: { path: '', message: `the body holds more than ${MAX_ESCAPES} escapes` }, members };
  const fault = scan(bytes, members);
  // Nothing of the text is kept.
  if (hasManyNames) manyNames.fill(undefined);
  hasManyNames = false;
  return { fault, members };
}

/** One loop with plain counters: it sees every token of every request. */
function scan(bytes: Buffer, places: MemberPlace[]): JsonFault | undefined {
  const { length } = bytes;
  let half = nextHalf(bytes, 0);
  let depth = 0;
  let values = 0;
  let members = 0;
  let at = 0;
  let isName = false;
  /** Begin of the value of an outermost member. */
  let outerFrom = 0;
  while (at < length) {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) {
      at++;
      continue;
    }
    if (isName) {
      if (byte !== QUOTE) return undefined;
      const top = depth - 1;
      const end = readName(bytes, at + 1, top);
      if (end < 0) return undefined;
      if (half < end && (half = unpairedFrom(bytes, half, at, end)) < end)
        return faultAt(bytes, top, 'a member name contains a lone surrogate');
      if (isTwice) return faultAt(bytes, depth, 'stands twice in the same object');
      if (isProto) return faultAt(bytes, depth, 'is not an allowed member name');
      if (isCrowded) return faultAt(bytes, top, `has more than ${MAX_MEMBERS} members`);
      if (++members > MAX_ALL_MEMBERS)
        return { path: '', message: `the body holds more than ${MAX_ALL_MEMBERS} members` };
      at = skipSpaceIn(bytes, end);
      if (bytes[at] !== COLON) return undefined;
      at++;
      isName = false;
      continue;
    }
    if (++values > MAX_VALUES) return { path: '', message: `the body holds more than ${MAX_VALUES} values` };
    if (depth === 1) outerFrom = at;
    if (byte === QUOTE) {
      const end = stringEndIn(bytes, at + 1);
      if (end < 0) return undefined;
      if (half < end && (half = unpairedFrom(bytes, half, at, end)) < end)
        return faultAt(bytes, depth, 'contains a lone surrogate, which is not valid Unicode text');
      at = end;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === MAX_DEPTH)
        return faultAt(bytes, depth, `the body is nested more than ${MAX_DEPTH} levels deep`);
      at = skipSpaceIn(bytes, at + 1);
      // Closing brackets stand two behind the opening ones.
      if (bytes[at] === byte + 2) at++;
      else {
        isName = byte === OPEN_BRACE;
        inArray[depth] = isName ? 0 : 1;
        counts[depth] = 0;
        depth++;
        continue;
      }
    } else {
      const end = scalarEndIn(bytes, at);
      if (end === at) return undefined;
      at = end;
    }
    // From behind a value to the next one, out of what ends here.
    for (;;) {
      if (depth === 1 && inArray[0] === 0) places.push(placeOf(bytes, outerFrom, at));
      at = skipSpaceIn(bytes, at);
      if (depth === 0 || at === length) return undefined;
      const array = inArray[depth - 1] === 1;
      const next = bytes[at++];
      if (next === COMMA) {
        isName = !array;
        if (array) counts[depth - 1] = (counts[depth - 1] ?? 0) + 1;
        break;
      }
      if (next !== (array ? CLOSE_BRACKET : CLOSE_BRACE)) return undefined;
      depth--;
    }
  }
  return undefined;
}

/** The outermost member that was read last. */
function placeOf(bytes: Buffer, valueFrom: number, to: number): MemberPlace {
  const from = nameFrom[0] ?? 0;
  return { name: nameOf(bytes, 0), from: from - 1, valueFrom, to };
}

/** Findings about the name that was read last. */
let isTwice = false;
let isProto = false;
/** True when its object has too many. */
let isCrowded = false;

/**
 * Reads and remembers a member's name.
 * @param from offset behind its opening quote
 * @param top the depth of its object
 * @returns offset behind the closing quote; -1 where there is no name
 */
function readName(bytes: Buffer, from: number, top: number): number {
  const short = Math.min(bytes.length, from + SHORT);
  let hash = 0;
  let at = from;
  let byte = 0;
  while (at < short && (byte = bytes[at] ?? 0) !== QUOTE && byte !== BACKSLASH) {
    hash = (Math.imul(hash, 31) + byte) | 0;
    at++;
  }
  nameFrom[top] = from;
  nameEnd[top] = at;
  const count = counts[top] ?? 0;
  if (byte !== QUOTE || count >= FEW) return readAmongMany(bytes, from, top);
  isCrowded = false;
  isProto = hash === PROTO_HASH && nameOf(bytes, top) === PROTO;
  isTwice = false;
  const first = top * FEW;
  const next = first + count;
  for (let other = first; other < next; other++)
    if (hashes[other] === hash && isSame(bytes, from, at, froms[other] ?? 0, ends[other] ?? 0))
      isTwice = true;
  hashes[next] = hash;
  froms[next] = from;
  ends[next] = at;
  counts[top] = count + 1;
  return at + 1;
}

/** True where the same bytes stand in two places. */
function isSame(bytes: Buffer, from: number, end: number, otherFrom: number, otherEnd: number): boolean {
  return bytes.compare(bytes, otherFrom, otherEnd, from, end) === 0;
}

/** The same as `readName` for an object that has many names, long ones, or ones with escapes. */
function readAmongMany(bytes: Buffer, from: number, top: number): number {
  const end = stringEndIn(bytes, from);
  const name = end < 0 ? undefined : nameIn(bytes, from, end - 1);
  if (name === undefined) return -1;
  nameEnd[top] = end - 1;
  const count = counts[top] ?? 0;
  let names = count > FEW ? manyNames[top] : undefined;
  if (!names) {
    manyNames[top] = names = new Set();
    for (let other = top * FEW; other < top * FEW + count; other++)
      names.add(bytes.toString('utf8', froms[other], ends[other]));
    counts[top] = FEW + 1;
    hasManyNames = true;
  }
  const { size } = names;
  names.add(name);
  isTwice = names.size === size;
  isProto = name === PROTO;
  isCrowded = size >= MAX_MEMBERS;
  return end;
}

/** @param open how many of the open objects and arrays the path leads into */
function faultAt(bytes: Buffer, open: number, message: string): JsonFault {
  let path = '';
  // Only the innermost steps of an absurdly deep path are worth showing, and only the start of an absurd name.
  for (let top = open - 1; top >= 0 && path.length <= 200; top--) {
    const name = inArray[top] === 1 ? `[${counts[top]}]` : shortNameOf(bytes, top);
    path = path === '' ? name : path.startsWith('[') ? name + path : `${name}.${path}`;
  }
  return { path, message };
}

function shortNameOf(bytes: Buffer, top: number): string {
  const name = nameOf(bytes, top);
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** The name of the member that is read in an open object. */
function nameOf(bytes: Buffer, top: number): string {
  return nameIn(bytes, nameFrom[top] ?? 0, nameEnd[top] ?? 0) ?? '';
}

/** @returns whether a text has more than `MAX_ESCAPES` escapes of two characters; outside of strings there are none */
function escapesMore(bytes: Buffer): boolean {
  let escapes = 0;
  let at = bytes.indexOf(BACKSLASH);
  while (at >= 0) {
    // The next escape is often near.
    for (const end = at + NEAR; at < end; at++) {
      if (bytes[at] !== BACKSLASH) continue;
      if (bytes[++at] !== LETTER_U && ++escapes > MAX_ESCAPES) return true;
    }
    at = bytes.indexOf(BACKSLASH, at);
  }
  return false;
}

const PROTO = '__proto__';
const PROTO_HASH = [...PROTO].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 0);
