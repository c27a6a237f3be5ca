// Reads the parts of the requirements manifest: text files, so that a requirement is added without code. `[source]`
// holds for the entries below it. An entry is a line `id behaviour`; indented lines below it name its tests.

export interface Requirement {
  readonly id: string;
  /** Behaviour of the gateway, in one sentence. */
  readonly behaviour: string;
  /** Origin of the requirement. */
  readonly source: string;
  /** `file` for a golden case, else `file: part of a test's title`. Empty only when all of it comes later. */
  readonly tests: readonly string[];
  /** Part of it that is not here yet: the subject of the issue that brings it, or `not scheduled`. */
  readonly later?: string;
}

const LATER = 'later: ';

/** Entries of one part, in order. Throws an error with the number of the first line that has none of the forms. */
export function parseRequirements(text: string): readonly Requirement[] {
  const entries: (Requirement & { tests: string[]; later?: string })[] = [];
  let source = '';
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const entry = entries.at(-1);
    const [, heading] = /^\[(.+)\]$/.exec(line) ?? [];
    const [, id, behaviour] = /^([\w.-]+) (.+)$/.exec(line) ?? [];
    const [, item] = /^ {2}(\S.*)$/.exec(line) ?? [];
    if (heading !== undefined) source = heading;
    else if (id !== undefined && behaviour !== undefined) entries.push({ id, behaviour, source, tests: [] });
    else if (entry === undefined || item === undefined)
      throw new Error(`Line ${index + 1} is neither a source, an entry nor a test of one: ${line}`);
    else if (item.startsWith(LATER)) entry.later = item.slice(LATER.length);
    else entry.tests.push(item);
  }
  return entries;
}
