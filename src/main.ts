// The program: reads its command line and runs one command.
import { runCommand } from './cli/index.ts';

process.exitCode = await runCommand(process.argv.slice(2));
