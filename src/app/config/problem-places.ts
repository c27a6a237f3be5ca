// Positions of problems in the configuration file: `dragoman.yaml:12: models[0].id: …`. Reads the file again, because
// positions are only needed for error messages.
import { readFileSync } from 'node:fs';
import type { ConfigError } from './config-error.ts';
import { linesIn } from './parse-yaml.ts';

/**
 * Problems of an error, one line each, with file and line if they concern the file. Never throws.
 * @param file null: none
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
