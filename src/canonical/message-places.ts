// Where plain messages stand in a JSON text: found while it is scanned.
import { hadBadEscape, textEnd } from './json-strings.ts';
import { CLOSE_BRACE, skipSpace } from './json-text.ts';

/** Roles whose messages of text every protocol reads alike. */
export type PlainRole = 'system' | 'developer' | 'user' | 'assistant';

/** Members that hold a conversation, whichever protocol the body is of. */
export type MessagesName = 'messages' | 'input';

/** Where the messages of a conversation stand that are plain, all of them: an object of a role and a text each. */
export interface MessagePlaces {
  /** The member that they are. */
  name: MessagesName;
  /** Offset of the bracket that opens their list. */
  from: number;
  /** Offset behind the one that closes it. */
  to: number;
  readonly roles: PlainRole[];
  /** Of each text the offset of its opening quote, and the one behind its closing quote. */
  readonly texts: number[];
}

/** Shorter texts are parsed sooner than put off. */
const SHORT_TEXT = 1024;
/** A message of a role and a text, up to that. */
const PLAIN_MESSAGE = /\{ ?"role": ?"(system|developer|user|assistant)", ?"content": ?(?=")/y;
/** Elsewhere they may be white space; in a string the parser refuses them. */
const CONTROL = /[\x00-\x1f]/;

/** Where there are none, or none yet. */
export function noPlaces(): MessagePlaces {
  return { name: 'messages', from: -1, to: -1, roles: [], texts: [] };
}

/**
 * The member that a name is, if a list under it may be one of plain messages.
 * @param from offset of the name
 * @param end behind it
 */
export function plainName(text: string, from: number, end: number): MessagesName | undefined {
  if (text.length < SHORT_TEXT) return undefined;
  if (isName('messages', text, from, end)) return 'messages';
  return isName('input', text, from, end) ? 'input' : undefined;
}

function isName(name: MessagesName, text: string, from: number, end: number): boolean {
  return end === from + name.length && text.startsWith(name, from);
}

/**
 * Reads a plain message, and notes its place. One whose text is empty is not plain.
 * @returns the offset behind it; -1 for any other value
 */
export function readPlain(text: string, at: number, { roles, texts }: MessagePlaces): number {
  PLAIN_MESSAGE.lastIndex = at;
  const role = PLAIN_MESSAGE.exec(text)?.[1] as PlainRole | undefined;
  if (role === undefined) return -1;
  const from = PLAIN_MESSAGE.lastIndex;
  const end = textEnd(text, from + 1);
  if (end < 0 || end === from + 2 || hadBadEscape()) return -1;
  const close = skipSpace(text, end);
  if (close >= text.length || text.charCodeAt(close) !== CLOSE_BRACE) return -1;
  roles.push(role);
  texts.push(from, end);
  return close + 1;
}

/** True when all of the messages were read, and nothing in their texts is to be refused. */
export function isComplete(text: string, { to }: MessagePlaces): boolean {
  return to > 0 && !CONTROL.test(text);
}
