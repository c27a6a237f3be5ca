// Runs a command line: finds the command, prints help, and reports errors. Standard output is for data, standard error
// for messages.
import { printable, printableLines } from '../../base/lib/printable.ts';
import { GatewayError } from '../../canonical/index.ts';
import { nearest } from '../../catalog/index.ts';
import { ConfigError, configPath, placedProblems } from '../config/index.ts';
import { readEnvironment } from '../../base/runtime/environment.ts';
import { type Command, parseArguments } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { helpOf, overview } from './help.ts';
import { inThisShell } from './program-name.ts';
import { VERSION } from '../../base/lib/version.ts';

/** Runs a command line. @returns the exit code: 0 success, 1 failure, 2 invalid configuration or usage */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const named = argv[0] && !argv[0].startsWith('-') ? argv[0] : 'serve';
  // A gateway outlives the reader of its log.
  if (named !== 'serve') endQuietly();
  const rest = named === argv[0] ? argv.slice(1) : argv;
  const isHelp = named === 'help';
  const name = isHelp ? (rest[0] ?? '') : named;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (isHelp || argv.includes('--help') || argv.includes('-h')) {
    // `--help` without a command describes all commands.
    const isAbout = command && name === (isHelp ? rest[0] : argv[0]);
    if (isAbout || name === '' || name === 'serve') {
      process.stdout.write(isAbout ? helpOf(command) : overview());
      return 0;
    }
  }
  if (argv[0] === '--version' || argv[0] === '-V' || argv[0] === 'version') {
    process.stdout.write(`dragoman ${VERSION}\n`);
    return 0;
  }
  if (!command) {
    const [near] = nearest(
      name,
      COMMANDS.map((each) => each.name),
      1,
    );
    const hint = near === undefined ? '' : ` Did you mean \`${inThisShell(near)}\`?`;
    process.stderr.write(
      `dragoman: unknown command "${printable(name)}".${hint}\n\`${inThisShell('help')}\` lists all commands.\n`,
    );
    return 2;
  }
  try {
    requireWords(command, rest);
    const run = await command.load();
    return await run(rest);
  } catch (error) {
    if (error instanceof ConfigError) {
      const problems = placedProblems(error, fileOf(rest));
      process.stderr.write(
        `${problems.map((problem) => `dragoman: ${printableLines(problem)}`).join('\n')}\n`,
      );
      return 2;
    }
    if (GatewayError.is(error) || isUsageError(error)) {
      const { message } = error as Error;
      const help = isUsageError(error) ? `\n\`${inThisShell(`${name} --help`)}\` lists the options.` : '';
      process.stderr.write(`dragoman ${name}: ${printableLines(message)}${help}\n`);
      return isUsageError(error) ? 2 : 1;
    }
    throw error;
  }
}

/** Throws TypeError, as for an unknown option, for an unexpected argument. */
function requireWords({ usage, options, withoutArguments = [] }: Command, argv: readonly string[]): void {
  const taken = usage.split(' ').slice(1);
  // An ellipsis accepts any number of arguments.
  if (taken.some((word) => word.includes('…'))) return;
  const { words } = parseArguments(argv, options);
  const [action = ''] = words;
  const word = words[withoutArguments.includes(action) ? 1 : taken.length];
  if (word === undefined) return;
  const error = new TypeError(`unexpected argument "${word}": dragoman ${usage} [OPTIONS]`);
  throw Object.assign(error, { code: 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' });
}

/** The configuration file of these arguments. Null: none. */
function fileOf(argv: readonly string[]): string | null {
  const at = argv.findIndex((word) => word === '--config' || word.startsWith('--config='));
  const named = argv[at]?.split('=', 2)[1] ?? argv[at + 1];
  return configPath({ environment: readEnvironment(), flags: { config: at < 0 ? undefined : named } });
}

function isUsageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

// Closed output: when the reader of standard output has gone, as with `| head`, the command ends silently.

/** Ends the process silently when its output is no longer read. May be called again. */
function endQuietly(): void {
  for (const stream of [process.stdout, process.stderr])
    if (stream.listenerCount('error') === 0)
      stream.on('error', (error: Error & { readonly code?: string }) => {
        // The reader has everything it wanted.
        if (error.code === 'EPIPE') process.exit(stream === process.stdout ? 0 : 1);
        throw error;
      });
}
