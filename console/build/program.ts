// The program that builds the console into the folder that file descriptor 0 names. Runs in a process of its own, whose memory
// the gateway gets back; `src/operations/console/assets.ts` starts it and bounds its time and memory.
import { readFileSync } from 'node:fs';
import { writeConsole } from './build.ts';

await writeConsole(readFileSync(0, 'utf8'));
