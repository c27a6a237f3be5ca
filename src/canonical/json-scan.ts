// What must be known of a JSON text before it is parsed: how deep it nests, how many values it holds, whether a name
// stands twice, and whether there is anything in it that no other reader would take. One pass over the text, without
// recursion and without an allocation per value. Judges no grammar: that is the parser's, who comes next. On its way it
// notes where plain messages stand, which need not be parsed before somebody reads them.
import { beginStrings, textEnd } from './json-strings.ts';
import { nextHalf, unpairedFrom } from './json-surrogates.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  LETTER_U,
  NEAR,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
} from './json-text.ts';
import { isComplete, noPlaces, plainName, readPlain, type MessagePlaces } from './message-places.ts';

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
  /** Where, e.g. `messages[2].content`; '' for the whole. */
  readonly path: string;
  /** What is wrong, as the rest of a sentence that begins with the path. */
  readonly message: string;
}

/** Names of an object that are compared one by one: so many short ones. An object with others gets a set. */
const FEW = 12;
/** Characters of a short name. */
const SHORT = 64;

// What is open in the scan that runs, by depth. One is never interrupted, so one of each serves all.
const inArray = new Uint8Array(MAX_DEPTH);
/** Elements of an array before this one; names of an object that are compared one by one, or more than `FEW`. */
const counts = new Int32Array(MAX_DEPTH);
const hashes = new Int32Array(MAX_DEPTH * FEW);
/** Where names stand, between their quotes. */
const froms = new Int32Array(MAX_DEPTH * FEW);
const ends = new Int32Array(MAX_DEPTH * FEW);
/** The same of the member that is read. */
const nameFrom = new Int32Array(MAX_DEPTH);
const nameEnd = new Int32Array(MAX_DEPTH);
const manyNames: (Set<string> | undefined)[] = Array.from({ length: MAX_DEPTH });
let hasManyNames = false;

export interface JsonScan {
  /** The first thing for which the text must be refused; also absent before a mistake, which the parser names. */
  readonly fault?: JsonFault | undefined;
  /** What the texts of these messages hold is proven to be JSON; for everything else that is the parser's. */
  readonly messages?: MessagePlaces | undefined;
}

/**
 * Looks through a client's JSON. It must be refused for nesting beyond 128 levels, too many values, members or escapes, a
 * name that stands twice in an object (however it is escaped), the name `__proto__`, and half of a surrogate pair.
 * @param text decoded from valid UTF-8
 */
export function scanJson(text: string): JsonScan {
  // Which no smaller text can hold.
  if (text.length > 2 * MAX_ESCAPES && escapesMore(text))
    return { fault: { path: '', message: `the body holds more than ${MAX_ESCAPES} escapes` } };
  beginStrings();
  const messages = noPlaces();
  const fault = scan(text, messages);
  // Nothing of the text is kept.
  if (hasManyNames) manyNames.fill(undefined);
  hasManyNames = false;
  if (fault) return { fault };
  return isComplete(text, messages) ? { messages } : NOTHING;
}

const NOTHING: JsonScan = {};

/** One loop with plain counters: it sees every token of every request. Reads past no end, which is slow to recover from. */
function scan(text: string, messages: MessagePlaces): JsonFault | undefined {
  const { length } = text;
  let half = nextHalf(text, 0);
  let depth = 0;
  let values = 0;
  let members = 0;
  let at = 0;
  let isName = false;
  // True inside of a list of messages of which none was other than plain.
  let isAmongPlain = false;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      at++;
      continue;
    }
    if (isName) {
      if (code !== QUOTE) return undefined;
      const top = depth - 1;
      const end = readName(text, at + 1, top);
      if (end < 0) return undefined;
      if (half < end && (half = unpairedFrom(text, half, at, end)) < end)
        return faultAt(text, top, 'a member name contains a lone surrogate');
      if (isTwice) return faultAt(text, depth, 'stands twice in the same object');
      if (isProto) return faultAt(text, depth, 'is not an allowed member name');
      if (isCrowded) return faultAt(text, top, `has more than ${MAX_MEMBERS} members`);
      if (++members > MAX_ALL_MEMBERS)
        return { path: '', message: `the body holds more than ${MAX_ALL_MEMBERS} members` };
      at = skipSpace(text, end);
      if (at === length || text.charCodeAt(at) !== COLON) return undefined;
      at++;
      isName = false;
      continue;
    }
    if (++values > MAX_VALUES) return { path: '', message: `the body holds more than ${MAX_VALUES} values` };
    let plainEnd = -1;
    if (isAmongPlain && depth === 2) {
      plainEnd = readPlain(text, at, messages);
      if (half < plainEnd || values + 2 > MAX_VALUES || members + 2 > MAX_ALL_MEMBERS) plainEnd = -1;
      isAmongPlain = plainEnd >= 0;
      // It is read once more, on the usual way, which finds whatever is wrong with it.
      if (!isAmongPlain) beginStrings();
    }
    if (plainEnd >= 0) {
      values += 2;
      members += 2;
      at = plainEnd;
    } else if (code === QUOTE) {
      const end = textEnd(text, at + 1);
      if (end < 0) return undefined;
      if (half < end && (half = unpairedFrom(text, half, at, end)) < end)
        return faultAt(text, depth, 'contains a lone surrogate, which is not valid Unicode text');
      at = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth === MAX_DEPTH)
        return faultAt(text, depth, `the body is nested more than ${MAX_DEPTH} levels deep`);
      const from = at;
      at = skipSpace(text, at + 1);
      // Closing brackets stand two behind the opening ones.
      if (at < length && text.charCodeAt(at) === code + 2) at++;
      else {
        isName = code === OPEN_BRACE;
        inArray[depth] = isName ? 0 : 1;
        counts[depth] = 0;
        // Of two lists the first counts.
        if (depth === 1 && !isName && inArray[0] === 0 && messages.from < 0) {
          const name = plainName(text, nameFrom[0] ?? 0, nameEnd[0] ?? 0);
          if (name !== undefined) {
            isAmongPlain = true;
            messages.name = name;
            messages.from = from;
          }
        }
        depth++;
        continue;
      }
    } else {
      const end = scalarEnd(text, at);
      if (end === at) return undefined;
      at = end;
    }
    // From behind a value to the next one, out of what ends here.
    for (;;) {
      at = skipSpace(text, at);
      if (depth === 0 || at === length) return undefined;
      const array = inArray[depth - 1] === 1;
      const next = text.charCodeAt(at++);
      if (next === COMMA) {
        isName = !array;
        if (array) counts[depth - 1] = (counts[depth - 1] ?? 0) + 1;
        break;
      }
      if (next !== (array ? CLOSE_BRACKET : CLOSE_BRACE)) return undefined;
      depth--;
      if (isAmongPlain && depth === 1) {
        isAmongPlain = false;
        messages.to = at;
      }
    }
  }
  return undefined;
}

/** Of the name that was read last. */
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
function readName(text: string, from: number, top: number): number {
  const short = Math.min(text.length, from + SHORT);
  let hash = 0;
  let at = from;
  let code = 0;
  while (at < short && (code = text.charCodeAt(at)) !== QUOTE && code !== BACKSLASH) {
    hash = (Math.imul(hash, 31) + code) | 0;
    at++;
  }
  nameFrom[top] = from;
  nameEnd[top] = at;
  const count = counts[top] ?? 0;
  if (code !== QUOTE || count >= FEW) return readAmongMany(text, from, top);
  isCrowded = false;
  isProto = hash === PROTO_HASH && text.slice(from, at) === PROTO;
  isTwice = false;
  const first = top * FEW;
  const next = first + count;
  for (let other = first; other < next; other++)
    if (hashes[other] === hash && text.slice(from, at) === text.slice(froms[other], ends[other]))
      isTwice = true;
  hashes[next] = hash;
  froms[next] = from;
  ends[next] = at;
  counts[top] = count + 1;
  return at + 1;
}

/** The same for an object that has many names, long ones, or ones with escapes. */
function readAmongMany(text: string, from: number, top: number): number {
  const end = stringEnd(text, from);
  const name = end < 0 ? undefined : unescaped(text, from, end - 1);
  if (name === undefined) return -1;
  nameEnd[top] = end - 1;
  const count = counts[top] ?? 0;
  let names = count > FEW ? manyNames[top] : undefined;
  if (!names) {
    manyNames[top] = names = new Set();
    for (let other = top * FEW; other < top * FEW + count; other++)
      names.add(text.slice(froms[other], ends[other]));
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
function faultAt(text: string, open: number, message: string): JsonFault {
  let path = '';
  // Only the innermost steps of an absurdly deep path are worth showing, and only the start of an absurd name.
  for (let top = open - 1; top >= 0 && path.length <= 200; top--) {
    const name = inArray[top] === 1 ? `[${counts[top]}]` : nameOf(text, top);
    path = path === '' ? name : path.startsWith('[') ? name + path : `${name}.${path}`;
  }
  return { path, message };
}

function nameOf(text: string, top: number): string {
  const name = unescaped(text, nameFrom[top] ?? 0, nameEnd[top] ?? 0) ?? '';
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** @returns whether a text has more than `MAX_ESCAPES` escapes of two characters; outside of strings there are none */
function escapesMore(text: string): boolean {
  let escapes = 0;
  let at = text.indexOf('\\');
  while (at >= 0) {
    // Where there is one, the next is often near.
    for (const end = at + NEAR; at < end; at++) {
      if (text.charCodeAt(at) !== BACKSLASH) continue;
      if (text.charCodeAt(++at) !== LETTER_U && ++escapes > MAX_ESCAPES) return true;
    }
    at = text.indexOf('\\', at);
  }
  return false;
}

const PROTO = '__proto__';
const PROTO_HASH = [...PROTO].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 0);

/** A name as it is meant; undefined when its escapes are none of JSON. */
function unescaped(text: string, from: number, end: number): string | undefined {
  const name = text.slice(from, end);
  if (!name.includes('\\')) return name;
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    return undefined;
  }
}

/** Offset behind a number, `true`, `false` or `null`; or behind whatever stands there instead. */
function scalarEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const ends =
      code <= 32 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code === QUOTE;
    if (ends || code === COLON || code === OPEN_BRACE || code === OPEN_BRACKET) return at;
    at++;
  }
  return at;
}
