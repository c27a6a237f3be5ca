// The program: reads its command line and runs one command.
import { runCommand } from './cli/index.ts';

process.exitCode = await runCommand(process.argv.slice(2));
// What failed half-way may have left sockets open, which would keep the process alive.
if (process.exitCode !== 0) process.exit();
