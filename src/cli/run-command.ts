// The commands, one entry each, and what they share: help, errors, exit codes. Standard output is for data, standard error
// for talk. A command is loaded when it runs: the gateway holds nothing of the others.
import { ConfigError } from '../config/index.ts';
import { GatewayError } from '../canonical/index.ts';
import type { Command } from './command.ts';

const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    usage: 'serve [--host ADDRESS] [--port PORT] [--workers N|auto]',
    summary: 'run the gateway (the default command)',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'check',
    usage: 'check',
    summary: 'validate the configuration and exit',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'doctor',
    usage: 'doctor [--provider NAME] [--model ID] [--deep]',
    summary: 'find out what providers can do (--dry-run --yes --forget [PROVIDER])',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'keys',
    usage: 'keys create NAME | list | show|set|rotate|revoke KEY',
    summary:
      'manage API keys (--project P --role R --models A,B* --limit "60 requests per minute" --budget "5 usd per day" --routing only=A,B --expires DATE --strict --log-content; rotate: --grace 24h)',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  {
    name: 'projects',
    usage: 'projects create NAME | list | show|set|archive NAME',
    summary: 'manage projects (--limit "600 requests per minute" --budget "500 usd per month"; restore NAME)',
    load: async () => (await import('./commands/projects.ts')).projects,
  },
  {
    name: 'limits',
    usage: 'limits [--kind gateway|project|key|provider] [--id ID]',
    summary: 'show how far limits and budgets of a running gateway are used (--url URL --key ADMIN_KEY)',
    load: async () => (await import('./commands/limits.ts')).limits,
  },
  {
    name: 'usage',
    usage: 'usage [--by project,key,model,…] [--since 7d]',
    summary:
      'print what requests came to (--by end_user --every hour|day|month --until DATE --project A,B --key ID --model ID --csv)',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'models',
    usage: 'models [WORD] [--diff]',
    summary:
      'list the models, and what was probed besides, or those whose id contains WORD; --diff: what `catalog.refresh` would change',
    load: async () => (await import('./commands/models.ts')).models,
  },
  {
    name: 'console',
    usage: 'console',
    summary: 'print a link that signs in to the console of the gateway that runs here (--url URL)',
    load: async () => (await import('./console.ts')).consoleLink,
  },
  {
    name: 'explain',
    usage: 'explain MODEL [PROMPT…]',
    summary: 'show how a running gateway would route it (--body FILE --url URL --key KEY)',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    name: 'replay',
    usage: 'replay ID [--model M] [--provider P]',
    summary:
      'have a running gateway send a request again whose content was logged, and print what is different (--tools --url URL --key ADMIN_KEY)',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'migrate',
    usage: 'migrate sqlite-to-postgres [--dry-run]',
    summary: 'move a data directory into the database of `database_url` (--from DIR --to postgres://…)',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'sim',
    usage: 'sim [--host ADDRESS] [--port PORT]',
    summary: 'serve the simulated provider alone (port 4010)',
    load: async () => (await import('./commands/sim.ts')).sim,
  },
];

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
    const run = await command.load();
    return await run(rest);
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
