// Entry of the executable: the gateway's program, or one of those that it starts in processes of their own.
import { readEnvironment } from '../base/runtime/environment.ts';
import { OWN_PROGRAM } from '../base/runtime/subprocess.ts';
import { run } from './cli/index.ts';

/** By the names of their files. */
const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  'draft-process.ts': () => import('./cli/draft-process.ts'),
  'pdf-process.ts': () => import('../engine/documents/pdf-process.ts'),
  'schema-process.ts': () => import('../engine/adapt/schema-process.ts'),
};

const asked = readEnvironment()[OWN_PROGRAM];
if (asked === undefined) void run();
else await PROGRAMS[asked]?.();
