// Entry of the program.
import { run } from './cli/index.ts';

// No top-level `await`: the bundled program may be a script, whose compiled form can be cached.
void run();
