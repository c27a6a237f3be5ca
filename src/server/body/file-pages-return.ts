// Has pages of files leave this process that nothing uses any more, those of a start above all. Decides when; knows neither the pages
// nor how they leave.
import type { Clock } from '../../runtime/clock.ts';

/** After the start, in milliseconds: what only that needed has been used by then. */
const FIRST_MS = 2_000;
/** The times between two releases double up to this: what is used is read again behind each, for some milliseconds in all. */
const LONGEST_MS = 300_000;

/**
 * Starts to watch.
 * @param release takes them out. Returns false where that cannot be done
 * @returns what ends it
 */
export function returnFilePages(clock: Pick<Clock, 'after'>, release: () => boolean): () => void {
  let cancel = (): void => {};
  const wait = (ms: number): void => {
    cancel = clock.after(ms, () => {
      if (release()) wait(Math.min(ms * 2, LONGEST_MS));
    });
  };
  wait(FIRST_MS);
  return () => cancel();
}
