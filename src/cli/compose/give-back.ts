// Gives back to the system what this process holds and does not need: after its start, after a burst, after a step to other work.
import type { Clock } from '../../runtime/clock.ts';
import { filePages } from '../../runtime/file-pages.ts';
import { collectGarbage, residentBytes, usedMs } from '../../runtime/machine.ts';
import { returnFilePages } from '../../server/body/file-pages-return.ts';
import { returnMemory } from '../../server/body/memory-return.ts';

/** Starts to watch. @returns what ends it */
export function giveBack(clock: Clock): () => void {
  const stops = [
    returnMemory({ clock, residentBytes, usedMs, collect: collectGarbage }),
    returnFilePages(clock, filePages()),
  ];
  return () => stops.forEach((stop) => stop());
}
