// Decodes members that OpenAI's protocols share: `metadata`, pairs of strings that a client attaches to its request,
// and reasoning efforts.
import { EFFORTS, type Problems, type ReasoningRequest, TEXTS } from '../../canonical/index.ts';
import { describe, type Member, readObject, readOneOf } from '../members/read-member.ts';

/** OpenAI API reference, "Create chat completion", `metadata`. */
const METADATA_LIMITS = { pairs: 16, keyLength: 64, valueLength: 512 };

/** Decodes `metadata`: at most 16 pairs of strings. */
export function decodeMetadata(
  value: Member,
  problems: Problems,
): Readonly<Record<string, string>> | undefined {
  const raw = readObject(value, 'metadata', problems);
  if (!raw) return undefined;
  const { pairs, keyLength, valueLength } = METADATA_LIMITS;
  const entries = Object.entries(raw);
  if (entries.length > pairs) problems.add('metadata', `must not have more than ${pairs} pairs`);
  const strings: [string, string][] = [];
  for (const [key, text] of entries.slice(0, pairs)) {
    const path = memberPath('metadata', key);
    if (key.length > keyLength) problems.add(path, `the key must not have more than ${keyLength} characters`);
    else if (typeof text !== 'string') problems.add(path, TEXTS.mustBeString(describe(text)));
    else if (text.length > valueLength) problems.add(path, TEXTS.tooLong(valueLength));
    else strings.push([key, text]);
  }
  return Object.fromEntries(strings);
}

/** Returns the path of a member that the client named. It is cut, because it is part of the error. */
export function memberPath(parent: string, key: string): string {
  return `${parent}.${key.length > 64 ? `${key.slice(0, 64)}…` : key}`;
}

// Reasoning efforts of OpenAI's protocols, including Groq's values.

/** Value for the model's default reasoning (console.groq.com, "Reasoning", 2026-11). */
const DEFAULT = 'default';

/** Reads an effort; undefined if absent. An unknown value is a problem. */
export function readEffort(
  value: Member,
  path: string,
  problems: Problems,
): Pick<ReasoningRequest, 'effort' | 'enabled'> {
  return value === DEFAULT ? { enabled: true } : { effort: readOneOf(value, path, problems, EFFORTS) };
}
