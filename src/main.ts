// The program: reads its command line and runs one command.
import { runCommand } from './cli/index.ts';

async function main(): Promise<void> {
  process.exitCode = await runCommand(process.argv.slice(2));
  // What failed half-way may have left sockets open, which would keep the process alive.
  if (process.exitCode !== 0) process.exit();
}

// No `await` at the top: the packed program is a script, which can be kept in its compiled form.
void main();
