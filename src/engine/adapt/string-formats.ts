// String formats of JSON Schema that are checked: those that OpenAI documents for structured outputs ("Supported
// schemas", read 2026-11), and addresses. Others are not checked, as the specification permits.
import type { Format } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

const CHECKED = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'uri',
] as const;

/** Longer than any text of these formats, so that their regular expressions never run on long untrusted text. */
const LONGEST = 2_000;

/** Format checks, by name of the format. */
export const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = Object.fromEntries(
  CHECKED.map((name) => [name, (text: string) => text.length <= LONGEST && matches(fullFormats[name], text)]),
);

function matches(format: Format | undefined, text: string): boolean {
  if (format instanceof RegExp) return format.test(text);
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
  return typeof validate === 'function' && (validate as (text: string) => boolean)(text);
}
