// Entry point of the executable: the gateway, or a program that it starts in a separate process.
import { readEnvironment } from '../base/runtime/environment.ts';
import { OWN_PROGRAM } from '../base/runtime/subprocess.ts';
import { run } from './cli/index.ts';

/** By file name. */
const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  'draft-process.ts': () => import('./cli/draft-process.ts'),
  'pdf-process.ts': () => import('../engine/documents/pdf-process.ts'),
  'schema-process.ts': () => import('../engine/adapt/schema-process.ts'),
};

const asked = readEnvironment()[OWN_PROGRAM];
if (asked === undefined) void run();
else await PROGRAMS[asked]?.();
