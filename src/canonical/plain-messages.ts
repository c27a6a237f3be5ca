// Messages that are an object of a role and a text each, which are made without reading the texts: what is only passed on
// need not be parsed. Knows no protocol.
import type { JsonValue, MutableJsonObject } from './json.ts';
import type { MessagePlaces, PlainRole } from './message-places.ts';

/** A type, so that it is a JSON object. */
export type PlainMessage = {
  readonly role: PlainRole;
  /** Never empty. Parsed when it is first read. */
  readonly content: string;
};

/** Where a value stands in a text. */
export interface ValuePlace {
  readonly from: number;
  /** Offset behind it. */
  readonly to: number;
}

interface Origin extends ValuePlace {
  /** The text that they come from. */
  readonly text: string;
  readonly messages: readonly ReadLate[];
}

/** What is behind a plain message. */
interface ReadLate {
  /** As it is in JSON, quotes included. */
  readonly written: string;
  /** What that says, once somebody has read it. */
  read: string | undefined;
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
  return origin?.text.length === bytes.length ? origin : undefined;
}

/** The texts of plain messages that somebody has read, beside what is written for each in the body: in their order. */
export function* readTexts(messages: JsonValue | undefined): Generator<{ said: string; written: string }> {
  const origin = Array.isArray(messages) ? PLAIN.get(messages as readonly JsonValue[]) : undefined;
  for (const { read, written } of origin?.messages ?? [])
    if (read !== undefined) yield { said: read, written };
}

/**
 * Parses a text whose messages are plain.
 * @param places as `scanJson` found them
 * @throws SyntaxError as the parser of the whole text does
 */
export function parseAround(text: string, places: MessagePlaces): JsonValue {
  const body = rest(text, places);
  const { from, to, roles, texts } = places;
  const lateOnes: ReadLate[] = [];
  const messages = roles.map((role, index) => {
    const late = { written: text.slice(texts[2 * index], texts[2 * index + 1]), read: undefined };
    lateOnes.push(late);
    return plainMessage(role, late);
  });
  PLAIN.set(messages, { from, to, text, messages: lateOnes });
  body['messages'] = messages;
  return body;
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

function plainMessage(role: PlainRole, late: ReadLate): PlainMessage {
  return {
    role,
    get content() {
      return (late.read ??= said(late.written));
    },
  };
}

function said(written: string): string {
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
}
