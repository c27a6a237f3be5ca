// Content of a message or a tool result: a string, or a list of parts.
import type { JsonValue } from '../../base/json/index.ts';
import type { Part, Problems } from '../../canonical/index.ts';
import { type Member, readArray } from './read-member.ts';

/**
 * Reads content that is a string or a list of parts.
 * @param decode reads an element of the list; returns undefined after adding a problem
 * @returns undefined if absent or null; an empty list, with a problem, for another type
 */
export function readContent(
  content: Member,
  path: string,
  problems: Problems,
  decode: (element: JsonValue, path: string) => Part | undefined,
): Part[] | undefined {
  if (content === undefined || content === null) return undefined;
  if (typeof content === 'string') return [{ type: 'text', text: content, path }];
  const parts: Part[] = [];
  readArray(content, path, problems)?.forEach((element, index) => {
    const part = decode(element, `${path}[${index}]`);
    if (part) parts.push(part);
  });
  return parts;
}
