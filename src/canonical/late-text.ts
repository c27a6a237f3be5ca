// Texts of the client's JSON that are parsed when somebody reads them, and copied as they are written where they are only
// passed on. An object has such a text as a member like any other: whoever reads or replaces it need not know.
import type { MutableJsonObject } from './json.ts';
import type { Part, TextPart } from './part.ts';

/** A long text as it is written in JSON. */
export class LateText {
  /** With its quotes. */
  readonly written: string;
  #said: string | undefined;

  constructor(written: string) {
    this.written = written;
  }

  /** What it says. */
  get said(): string {
    return (this.#said ??= saidBy(this.written));
  }
}

/** Shorter texts are parsed sooner than put off. */
const LONG_TEXT = 256;

/** The text of a string of JSON. @param written valid, with its quotes */
export function readText(written: string): string | LateText {
  return written.length < LONG_TEXT ? saidBy(written) : new LateText(written);
}

function saidBy(written: string): string {
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1);
}

interface LateMember {
  readonly name: string;
  readonly text: LateText;
}

/** Returns what it is given. */
function given(object: object): object {
  return object;
}

/** Private fields of who extends this stand in the object given: they are put into what `super()` returns (ECMA-262, 13.3.7.1). */
const Given = given as unknown as new (object: object) => object;

/**
 * Remembers in an object itself which of its members is late. As in a WeakMap, nobody else sees it and no copy of the object
 * has it; unlike there it costs next to nothing, and the collector has nothing to follow.
 */
class Remembered extends Given {
  #late: LateMember | undefined;

  private constructor(object: object, late: LateMember) {
    super(object);
    this.#late = late;
  }

  static of(object: object): LateMember | undefined {
    return #late in object ? object.#late : undefined;
  }

  static remember(object: object, late: LateMember): void {
    if (#late in object) object.#late = late;
    else void new Remembered(object, late);
  }

  static forget(object: object): void {
    if (#late in object) object.#late = undefined;
  }
}

/** One for all objects: functions for each would cost as much as reading a short text. */
const ACCESS: PropertyDescriptor & ThisType<object> = {
  enumerable: true,
  configurable: true,
  get() {
    return Remembered.of(this)?.text.said;
  },
  set(value: unknown) {
    const { name = '' } = Remembered.of(this) ?? {};
    Remembered.forget(this);
    Object.defineProperty(this, name, { value, enumerable: true, configurable: true, writable: true });
  },
};

/** Gives an object a text as a member. Of each object one member can be late. */
export function setText(object: object, name: string, text: string | LateText): void {
  if (typeof text === 'string') {
    (object as Record<string, unknown>)[name] = text;
    return;
  }
  Remembered.remember(object, { name, text });
  Object.defineProperty(object, name, ACCESS);
}

/** The late member of an object; undefined where it has none. */
export function lateMember(object: object): LateMember | undefined {
  return Remembered.of(object);
}

/** True for a text that says nothing; one that was not read yet does. */
export function isEmptyText(part: Part): boolean {
  return part.type === 'text' && Remembered.of(part) === undefined && part.text === '';
}

/** The same object with the text of a part as a member, which is not read for it. */
export function withText(object: MutableJsonObject, name: string, part: TextPart): MutableJsonObject {
  setText(object, name, Remembered.of(part)?.text ?? part.text);
  return object;
}

/** A part of a conversation. @param path where its text stands in the client's body */
export function textPart(text: string | LateText, path: string): TextPart {
  const part = { type: 'text', path };
  setText(part, 'text', text);
  return part as unknown as TextPart;
}
