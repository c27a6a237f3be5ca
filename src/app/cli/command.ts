// Definition of a command, its arguments, and options that all commands share.
import { printable, printableLines } from '../../base/lib/printable.ts';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { loadConfig, type LoadedConfig } from '../config/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { nearest } from '../../catalog/index.ts';
import { COMMON_OPTIONS, type Options } from './options.ts';
import { readEnvironment } from '../../base/runtime/environment.ts';

export interface Command {
  readonly name: string;
  /** Its name with its arguments. */
  readonly usage: string;
  readonly summary: string;
  /** Actions, one of which follows the name, with descriptions. Absent: none. */
  readonly actions?: Readonly<Record<string, string>>;
  /** Actions that take no further word. Default: none. */
  readonly withoutArguments?: readonly string[];
  readonly options: Options;
  /** Loads the file that runs it. */
  readonly load: () => Promise<RunCommand>;
}

/** Runs a command with the arguments after its name. @returns the exit code */
export type RunCommand = (argv: readonly string[]) => Promise<number>;

export interface Arguments {
  readonly words: readonly string[];
  readonly json: boolean;
  /** The configuration for these arguments. Throws ConfigError. */
  load(): LoadedConfig;
  readonly host: string | undefined;
  readonly port: string | undefined;
  /** Value of an option of the command. */
  option(name: string): string | undefined;
  /** All values of a repeatable option. */
  options(name: string): readonly string[];
  flag(name: string): boolean;
  /** False for `--no-NAME`. Undefined: not given. */
  choice(name: string): boolean | undefined;
}

/** Parses the arguments of a command. Throws TypeError (code ERR_PARSE_ARGS_…) for unknown options. */
export function parseArguments(argv: readonly string[], own: Options = {}): Arguments {
  const { values, positionals } = parsed(argv, { ...COMMON_OPTIONS, ...own });
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
    load: () =>
      loadConfig({
        environment: readEnvironment(),
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

/** The parsed arguments. Errors name the option and the nearest known one. */
function parsed(
  argv: readonly string[],
  options: Options,
): Pick<ReturnType<typeof parseArgs>, 'values' | 'positionals'> {
  const config: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(options).map(([name, { value, multiple }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', ...(multiple && { multiple }) },
    ]),
  );
  try {
    return parseArgs({ args: [...argv], options: config, allowPositionals: true, allowNegative: true });
  } catch (error) {
    const [, name] = /^Unknown option '--?([\w-]+)'/.exec(error instanceof Error ? error.message : '') ?? [];
    if (!(error instanceof Error) || name === undefined) throw error;
    const [near] = nearest(name, Object.keys(options), 1);
    error.message = `unknown option "--${name}".${near === undefined ? '' : ` Did you mean --${near}?`}`;
    throw error;
  }
}

/** Error for an unknown action of a command. */
export function noAction(command: string, word: string, actions: readonly string[]): GatewayError {
  const [near] = nearest(word, actions, 1);
  const hint = near === undefined ? '' : `did you mean "${command} ${near}"? `;
  return new GatewayError(
    'invalid_request',
    `unknown action "${word}"; ${hint}Actions are ${actions.join(', ')}`.replace('; Actions', '; actions'),
  );
}

/** Prints rows as an aligned table, or as JSON. */
export function printRows(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
  json: boolean,
): void {
  if (json) {
    process.stdout.write(jsonText(rows));
    return;
  }
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => printable(String(row[column] ?? '')))),
  ];
  for (const row of padColumns(cells)) process.stdout.write(`${row.join('  ').trimEnd()}\n`);
}

/** JSON text with control characters escaped, so that it is safe to print in a terminal. */
export function jsonText(value: unknown): string {
  return printableLines(`${JSON.stringify(value, null, 2)}\n`);
}

/** Pads the cells of each column to equal width. */
export function padColumns(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)));
}
