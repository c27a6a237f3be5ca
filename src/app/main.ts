// Entry of the program.
import { run } from './cli/index.ts';

// No `await` at the top: the packed program may be a script, which can be kept in its compiled form.
void run();
