// Checks a client's JSON before it is parsed: depth, number of values, duplicate members and unpaired surrogates. Also
// records the offsets of the outermost members. One pass over the bytes, without recursion and without an allocation
// per value. The grammar is left to the parser, which runs next.
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

/** Deepest nesting that is accepted: more than any real schema has, and harmless for recursive code. */
export const MAX_DEPTH = 128;
/** Most JSON values in one body. A request with 2,000 messages and tools has about 10,000. */
export const MAX_VALUES = 500_000;
/** Most members of one object, and of all objects together. Names cost a parser much more than values. */
export const MAX_MEMBERS = 10_000;
export const MAX_ALL_MEMBERS = 250_000;
/** Most two-character escapes (`\\n`, `\\"`) in one body. Each costs a parser as much as ten plain characters. */
export const MAX_ESCAPES = 6_000_000;

/** Reason to refuse a text without parsing it. */
export interface JsonFault {
  /** Path of the fault, e.g. `messages[2].content`; '' for the whole body. */
  readonly path: string;
  /** The problem. Continues a sentence that begins with the path. */
  readonly message: string;
}

/** Objects with at most this many short names are searched linearly for duplicates; others use a set. */
const MOST_LINEAR = 12;
/** Longest short name, in bytes. */
const SHORT = 64;
/** Bytes after an escape that are checked one by one before `indexOf` is used. */
const NEAR = 32;

// State of the running scan by depth. Scans are synchronous, so that all of them can share it.
const inArray = new Uint8Array(MAX_DEPTH);
/** In an array: elements before this one. In an object: names that are compared linearly; more than `MOST_LINEAR` if a set is used. */
const counts = new Int32Array(MAX_DEPTH);
const hashes = new Int32Array(MAX_DEPTH * MOST_LINEAR);
/** Offsets of the names, without their quotes. */
const froms = new Int32Array(MAX_DEPTH * MOST_LINEAR);
const ends = new Int32Array(MAX_DEPTH * MOST_LINEAR);
/** Offsets of the name of the current member. */
const nameFrom = new Int32Array(MAX_DEPTH);
const nameEnd = new Int32Array(MAX_DEPTH);
const manyNames: (Set<string> | undefined)[] = Array.from({ length: MAX_DEPTH });
let hasManyNames = false;

/** Byte offsets of one member of the outermost object. */
export interface MemberPlace {
  /** Name with its escapes resolved. */
  readonly name: string;
  /** Offset of the opening quote of its name. */
  readonly from: number;
  readonly valueFrom: number;
  /** Offset after its value. */
  readonly to: number;
}

export interface JsonScan {
  /** First reason to refuse the text. Absent as well if a syntax error comes first: the parser reports that. */
  readonly fault?: JsonFault | undefined;
  /** Members in order; empty if the text is not an object. Valid only if the parser accepts the text. */
  readonly members: readonly MemberPlace[];
}

/**
 * Scans a client's JSON. Faults are: more than 128 levels, too many values, members or escapes, duplicate members (also
 * with different escapes), the name `__proto__`, and unpaired surrogates.
 * @param bytes valid UTF-8
 */
export function scanJson(bytes: Buffer): JsonScan {
  const members: MemberPlace[] = [];
  // Shorter texts cannot contain that many.
  if (bytes.length > 2 * MAX_ESCAPES && escapesMore(bytes))
    return {
      fault: { path: '', message: `the body has more than ${MAX_ESCAPES} escape sequences` },
      members,
    };
  const fault = scan(bytes, members);
  // Frees the names of this text.
  if (hasManyNames) manyNames.fill(undefined);
  hasManyNames = false;
  return { fault, members };
}

/** One loop with plain counters, because it runs over every token of every request. */
function scan(bytes: Buffer, places: MemberPlace[]): JsonFault | undefined {
  const { length } = bytes;
  let half = nextHalf(bytes, 0);
  let depth = 0;
  let values = 0;
  let members = 0;
  let at = 0;
  let isName = false;
  /** Offset at which the value of the current outermost member begins. */
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
      if (isDuplicate) return faultAt(bytes, depth, 'is a duplicate member of the object');
      if (isProto) return faultAt(bytes, depth, 'is not an allowed member name');
      if (hasTooManyMembers) return faultAt(bytes, top, `has more than ${MAX_MEMBERS} members`);
      if (++members > MAX_ALL_MEMBERS)
        return { path: '', message: `the body has more than ${MAX_ALL_MEMBERS} members` };
      at = skipSpaceIn(bytes, end);
      if (bytes[at] !== COLON) return undefined;
      at++;
      isName = false;
      continue;
    }
    if (++values > MAX_VALUES) return { path: '', message: `the body has more than ${MAX_VALUES} values` };
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
      // In ASCII, closing brackets come two after the opening ones.
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
    // Moves from the end of one value to the next, leaving the containers that end here.
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

/** Offsets of the outermost member that was read last. */
function placeOf(bytes: Buffer, valueFrom: number, to: number): MemberPlace {
  const from = nameFrom[0] ?? 0;
  return { name: nameOf(bytes, 0), from: from - 1, valueFrom, to };
}

/** True if the name that was read last is a duplicate. */
let isDuplicate = false;
let isProto = false;
/** True if its object has too many members. */
let hasTooManyMembers = false;

/**
 * Reads and remembers a member name.
 * @param from offset after its opening quote
 * @param top depth of its object
 * @returns offset after the closing quote; -1 if there is no name
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
  if (byte !== QUOTE || count >= MOST_LINEAR) return readAmongMany(bytes, from, top);
  hasTooManyMembers = false;
  isProto = hash === PROTO_HASH && nameOf(bytes, top) === PROTO;
  isDuplicate = false;
  const first = top * MOST_LINEAR;
  const next = first + count;
  for (let other = first; other < next; other++)
    if (hashes[other] === hash && isSame(bytes, from, at, froms[other] ?? 0, ends[other] ?? 0))
      isDuplicate = true;
  hashes[next] = hash;
  froms[next] = from;
  ends[next] = at;
  counts[top] = count + 1;
  return at + 1;
}

/** True if two ranges hold the same bytes. */
function isSame(bytes: Buffer, from: number, end: number, otherFrom: number, otherEnd: number): boolean {
  return bytes.compare(bytes, otherFrom, otherEnd, from, end) === 0;
}

/** `readName` for objects with many names, long names or escapes. */
function readAmongMany(bytes: Buffer, from: number, top: number): number {
  const end = stringEndIn(bytes, from);
  const name = end < 0 ? undefined : nameIn(bytes, from, end - 1);
  if (name === undefined) return -1;
  nameEnd[top] = end - 1;
  const count = counts[top] ?? 0;
  let names = count > MOST_LINEAR ? manyNames[top] : undefined;
  if (!names) {
    manyNames[top] = names = new Set();
    for (let other = top * MOST_LINEAR; other < top * MOST_LINEAR + count; other++)
      names.add(bytes.toString('utf8', froms[other], ends[other]));
    counts[top] = MOST_LINEAR + 1;
    hasManyNames = true;
  }
  const { size } = names;
  names.add(name);
  isDuplicate = names.size === size;
  isProto = name === PROTO;
  hasTooManyMembers = size >= MAX_MEMBERS;
  return end;
}

/** @param open number of open objects and arrays that the path leads through */
function faultAt(bytes: Buffer, open: number, message: string): JsonFault {
  let path = '';
  // Very deep paths show only their innermost steps, and very long names only their start.
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

/** Name of the current member of an open object. */
function nameOf(bytes: Buffer, top: number): string {
  return nameIn(bytes, nameFrom[top] ?? 0, nameEnd[top] ?? 0) ?? '';
}

/** @returns true if a text has more than `MAX_ESCAPES` two-character escapes. Outside of strings there are none */
function escapesMore(bytes: Buffer): boolean {
  let escapes = 0;
  let at = bytes.indexOf(BACKSLASH);
  while (at >= 0) {
    // The next escape is usually close.
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
