// `dragoman console`: prints a one-time link that signs in to the console of a running gateway, valid for a minute.
import { parseArguments, type RunCommand } from './command.ts';
import { originFor, ownCode } from './commands/own-gateway.ts';
import { CONSOLE_OPTIONS } from './options.ts';

export const consoleLink: RunCommand = async (argv) => {
  const args = parseArguments(argv, CONSOLE_OPTIONS);
  const link = `${originFor(args)}/console#code=${await ownCode(args)}`;
  process.stdout.write(`${link}\n`);
  if (process.stdout.isTTY) process.stderr.write('The link works once and expires in one minute.\n');
  return 0;
};
