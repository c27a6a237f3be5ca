// Formats values of tables for a terminal.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/index.ts';
import { printable } from '../../../base/lib/printable.ts';

/** Shown for an unknown value. */
export const UNKNOWN = '–';

export function shown(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

export function rowsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** Wraps between words; an overlong word gets its own line. */
export function wrap(text: string, width: number | null): readonly string[] {
  if (width === null) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export type Colour = 'plain' | 'dim' | 'green' | 'yellow' | 'red';
export type Painter = (colour: Colour, text: string) => string;
const CODES: Readonly<Record<Exclude<Colour, 'plain'>, number>> = { dim: 2, green: 32, yellow: 33, red: 31 };

/** Returns a function that colours text, or leaves it unchanged. */
export function painter(colour: boolean): Painter {
  return (name, text) => (colour && name !== 'plain' ? `\x1b[${CODES[name]}m${text}\x1b[0m` : text);
}

export function rounded(value: JsonValue | undefined, digits: number, unit = ''): string {
  return typeof value === 'number' ? value.toFixed(digits) + unit : UNKNOWN;
}

export function members(object: JsonObject): string {
  return Object.entries(object)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value]) => `${printable(name)} ${isJsonObject(value) ? `(${members(value)})` : shown(value)}`,
    )
    .join(', ');
}
