// Messages that are an object of a role and a text each, which are made without reading the texts: what is only passed on
// need not be parsed. Knows no protocol.
import type { JsonValue, MutableJsonObject } from './json.ts';
import { lateMember, type LateText, readText, setText } from './late-text.ts';
import type { MessagePlaces, PlainRole } from './message-places.ts';

/** A type, so that it is a JSON object. */
export type PlainMessage = {
  readonly role: PlainRole;
  /** Never empty. Late where it is long. */
  readonly content: string;
};

/** Where a value stands in a text. */
export interface ValuePlace {
  readonly from: number;
  /** Offset behind it. */
  readonly to: number;
}

interface Origin extends ValuePlace {
  /** Characters of the text that they come from. */
  readonly length: number;
}

const PLAIN = new WeakMap<readonly JsonValue[], Origin>();

/** True for messages that are plain: whoever is content with knowing that leaves their texts unread. */
export function arePlain(messages: JsonValue | undefined): messages is readonly PlainMessage[] {
  return Array.isArray(messages) && PLAIN.has(messages as readonly JsonValue[]);
}

/**
 * Where plain messages stand in the body that they come from; undefined for others, and for a body that was changed.
 * @param bytes the body as a byte string: as long as the text that was scanned only where both are ASCII, and the same
 */
export function placeOfPlain(messages: JsonValue | undefined, bytes: string): ValuePlace | undefined {
  const origin = Array.isArray(messages) ? PLAIN.get(messages as readonly JsonValue[]) : undefined;
  return origin?.length === bytes.length ? origin : undefined;
}

/**
 * Parses a text whose messages are plain.
 * @param places as `scanJson` found them
 * @throws SyntaxError as the parser of the whole text does
 */
export function parseAround(text: string, places: MessagePlaces): JsonValue {
  const body = rest(text, places);
  const messages = places.roles.map((role, index) =>
    withContent({ role }, readText(text.slice(places.texts[2 * index], places.texts[2 * index + 1]))),
  );
  PLAIN.set(messages, { from: places.from, to: places.to, length: text.length });
  body[places.name] = messages;
  return body;
}

/** What a message says, unread where it is late. */
export function contentOf(message: PlainMessage): string | LateText {
  return lateMember(message)?.text ?? message.content;
}

/** The same message as an object of its own, which may get more members. Its text is not read for it. */
export function copyOfPlain(message: PlainMessage): MutableJsonObject {
  return withContent({ role: message.role }, contentOf(message));
}

function withContent(message: { readonly role: PlainRole }, content: string | LateText): PlainMessage {
  setText(message, 'content', content);
  return message as PlainMessage;
}

/** Everything but the messages, whose name keeps its place. */
function rest(text: string, { from, to }: MessagePlaces): MutableJsonObject {
  try {
    return JSON.parse(`${text.slice(0, from)}0${text.slice(to)}`) as MutableJsonObject;
  } catch {
    // What is wrong is told of the whole.
    return JSON.parse(text) as MutableJsonObject;
  }
}
