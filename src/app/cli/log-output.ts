// Output of a program that serves. A log that cannot be written, because its disk is full or its reader is gone, ends neither the
// process nor a request.
import { writeSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** True after an error: a stream that has failed writes nothing any more. */
let hasFailed = false;

/** Keeps this process running when its output cannot be written. */
export function outliveOutput(): void {
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => (hasFailed = true));
}

/** Writes a line of the log to standard error, newline included. Lines that cannot be written are lost. */
export function writeLog(line: string): void {
  if (!hasFailed) return void process.stderr.write(line);
  try {
    // The log continues once its disk has space again.
    writeSync(STANDARD_ERROR, line);
  } catch {
    // There is nowhere to report this.
  }
}
