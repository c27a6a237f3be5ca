// What a command is, and the options that all of them take.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { loadConfig, type LoadedConfig } from '../config/index.ts';
import { readEnvironment } from '../runtime/environment.ts';

export interface Command {
  readonly name: string;
  /** Its name with its arguments. */
  readonly usage: string;
  readonly summary: string;
  /** The file that runs it, which is read only now. */
  readonly load: () => Promise<RunCommand>;
}

/**
 * Runs a command with what follows its name.
 * @returns the exit code
 */
export type RunCommand = (argv: readonly string[]) => Promise<number>;

const COMMON = {
  config: { type: 'string' },
  'data-dir': { type: 'string' },
  json: { type: 'boolean' },
  host: { type: 'string' },
  port: { type: 'string' },
} as const satisfies ParseArgsOptionsConfig;

export interface Arguments {
  readonly words: readonly string[];
  readonly json: boolean;
  /**
   * The configuration under these arguments; throws ConfigError.
   * @param draft the text of a file that is only tried, in the place of the one that is there
   */
  load(draft?: string): LoadedConfig;
  readonly host: string | undefined;
  readonly port: string | undefined;
  /** An option of the command's own. */
  option(name: string): string | undefined;
  /** All values of an option that may be given several times. */
  options(name: string): readonly string[];
  flag(name: string): boolean;
  /** False for `--no-NAME`; undefined where neither was said. */
  choice(name: string): boolean | undefined;
}

/** Parses the arguments of a command. Throws TypeError (code ERR_PARSE_ARGS_…) for unknown options. */
export function parseArguments(argv: readonly string[], own: ParseArgsOptionsConfig = {}): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { ...COMMON, ...own },
    allowPositionals: true,
    allowNegative: true,
  });
  const given = values as Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  const text = (name: string): string | undefined =>
    typeof given[name] === 'string' ? given[name] : undefined;
  return {
    words: positionals,
    json: given['json'] === true,
    host: text('host'),
    port: text('port'),
    option: text,
    options(name) {
      const all = given[name];
      return Array.isArray(all) ? (all as readonly string[]) : [];
    },
    flag: (name) => given[name] === true,
    choice(name) {
      const said = given[name];
      return typeof said === 'boolean' ? said : undefined;
    },
    load: (draft) =>
      loadConfig({
        environment: readEnvironment(),
        draft,
        flags: {
          config: text('config'),
          host: text('host'),
          port: text('port'),
          dataDir: text('data-dir'),
          workers: text('workers'),
        },
      }),
  };
}

/** Prints rows as an aligned table, or as JSON. */
export function printRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  json: boolean,
): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => String(row[column] ?? ''))),
  ];
  for (const row of padColumns(cells)) process.stdout.write(`${row.join('  ').trimEnd()}\n`);
}

/** The cells of a table, each as wide as the widest of its column. */
export function padColumns(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)));
}
