// Has pages of files leave this process when there are many that nothing has used for a while, those of a start above all. Decides when;
// knows neither the pages nor how they leave.
import type { Clock } from '../../runtime/clock.ts';

export interface FilePagesOptions {
  readonly clock: Clock;
  /** Bytes of files that are in memory as part of this process. */
  readonly filePageBytes: () => number;
  /** Takes them out, which costs some milliseconds. @returns false where that cannot be done */
  readonly release: () => boolean;
}

const LOOK_MS = 1_000;
/** More than what had come back last time, in bytes: less is not worth the reading. */
const WORTH_BYTES = 12 * 1_048_576;
/** Looks after which what is used has come back, and what only a start needed has been used. */
const SETTLING = 2;
/** The looks between two releases double up to this. */
const LONGEST_WAIT = 64;

/** Starts to watch. @returns what ends it */
export function returnFilePages({ clock, filePageBytes, release }: FilePagesOptions): () => void {
  let used = 0;
  let pause = SETTLING;
  let looks = 0;
  const stop = clock.every(LOOK_MS, () => {
    looks += 1;
    if (looks <= pause) {
      if (looks === SETTLING && pause > SETTLING) used = filePageBytes();
      return;
    }
    if (filePageBytes() - used <= WORTH_BYTES) return;
    if (!release()) return stop();
    pause = Math.min(pause * 2, LONGEST_WAIT);
    looks = 0;
  });
  return stop;
}
