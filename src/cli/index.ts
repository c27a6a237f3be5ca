// The commands, one line each, and what they share: help, errors, exit codes. Standard output is for data,
// standard error for talk.
import { ConfigError } from '../config/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { check } from './check.ts';
import type { Command } from './command.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { keys } from './keys.ts';
import { models } from './models.ts';
import { serve } from './serve.ts';
import { sim } from './sim.ts';

const COMMANDS: readonly Command[] = [serve, check, doctor, keys, models, explain, sim];

const HELP = `dragoman: one endpoint in front of every model provider

${COMMANDS.map((command) => `  dragoman ${command.usage.padEnd(44)} ${command.summary}`).join('\n')}

Options of all commands: --config FILE, --data-dir DIR, --json, --help
They follow the command; npm wants two dashes before them: npm start -- --port 4001
`;

/**
 * Runs a command line.
 * @returns the exit code: 0 good, 1 failed, 2 bad configuration or usage
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const name = argv[0] && !argv[0].startsWith('-') ? argv[0] : 'serve';
  const rest = name === argv[0] ? argv.slice(1) : argv;
  if (argv.includes('--help') || argv.includes('-h') || name === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) {
    process.stderr.write(`dragoman: there is no command "${name}"\n\n${HELP}`);
    return 2;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`dragoman: ${error.message}\n`);
      return 2;
    }
    if (GatewayError.is(error) || isUsageError(error)) {
      process.stderr.write(`dragoman ${name}: ${(error as Error).message}\n`);
      return isUsageError(error) ? 2 : 1;
    }
    throw error;
  }
}

function isUsageError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
