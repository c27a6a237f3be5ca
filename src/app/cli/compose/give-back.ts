// Releases memory to the system when a burst is over, with the parts that know this process.
import type { Clock } from '../../../base/runtime/clock.ts';
import { collectGarbage, residentBytes, usedMs } from '../../../base/runtime/machine.ts';
import { returnMemory } from '../../../server/body/memory-return.ts';

/** Starts to watch. @returns a function that stops it */
export function giveBack(clock: Clock): () => void {
  return returnMemory({ clock, residentBytes, usedMs, collect: collectGarbage });
}
