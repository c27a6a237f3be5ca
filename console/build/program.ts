// Entry point that builds the console into the folder named by file descriptor 0. Runs in its own process, so that
// its memory is released. `src/operations/console/assets.ts` starts it and limits its time and memory.
import { readFileSync } from 'node:fs';
import { writeConsole } from './build.ts';

await writeConsole(readFileSync(0, 'utf8'));
