// Places of problems in the file of the configuration: `dragoman.yaml:12: models[0].id: …`. Reads the file again, since only
// a person who has to mend it wants to know.
import { readFileSync } from 'node:fs';
import type { ConfigError } from './config-error.ts';
import { linesIn } from './parse-yaml.ts';

/**
 * The problems of an error, a line each, with file and line in front where the file says anything of it. Never throws.
 * @param file null: there is none
 */
export function placedProblems(error: ConfigError, file: string | null): readonly string[] {
  const text = file === null ? null : textOf(file);
  if (file === null || text === null) return error.problems;
  const lineOf = linesIn(text);
  return error.problems.map((problem) => {
    const [, line, rest] = /^line (\d+), (column.*)$/s.exec(problem) ?? [];
    if (line !== undefined) return `${file}:${line}: ${rest}`;
    const path = /^([\w.[\]/*-]+): /.exec(problem)?.[1];
    const at = path === undefined ? undefined : lineOf(partsOf(path));
    return at === undefined ? problem : `${file}:${at}: ${problem}`;
  });
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** `models[0].id` as `['models', 0, 'id']`. */
function partsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, at]) =>
    at === undefined ? word : Number(at),
  );
}
