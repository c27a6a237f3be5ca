// Marks of requests that were sent to an upstream: one number each in a memory-mapped file. They survive when the
// process is killed, and tell the process that settles its requests which of them were sent.
import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SentMark, SentMarkStore, SentState } from '../../accounts/ports/index.ts';
import { onLeftBehind } from '../journal/journal-file.ts';
import { type Place, PlaceFile } from './place-file.ts';

const SUFFIX = '.sent';
const PLACE = 4;
const PLACES = 8192;
/**
 * Milliseconds for which marks of a killed process are kept. Its jobs are settled within seconds, or at the next start.
 */
const KEPT_MS = 7 * 86_400_000;
/** Id of a mark: file, slot and number. */
const ID = /^([0-9a-f]{16}):(\d{1,5}):(\d{1,10})$/;

/** Store for a process that leaves nothing behind. */
export const NO_MARKS: SentMarkStore = { open: () => null, stateOf: () => 'unknown' };

export class SentMarks implements SentMarkStore {
  readonly #folder: string;
  readonly #file: PlaceFile;
  /**
   * Slots of closed marks. They are reused only after all others, because a mark that was never sent may still be
   * looked up.
   */
  #closed: Place[] = [];
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = new PlaceFile({ folder, suffix: SUFFIX, bytes: PLACE, places: PLACES });
  }

  open(): SentMark | null {
    const place = this.#file.take() ?? this.#takeClosed();
    if (!place) return null;
    const { view, start } = place;
    if (this.#made === 0) void this.#forgetOld();
    this.#made += 1;
    const number = this.#made;
    return {
      id: `${this.#file.name}:${start / PLACE}:${number}`,
      sent: () => view.setUint32(start, number),
      close: () => void this.#closed.push(place),
    };
  }

  stateOf(id: string): SentState {
    const [, name, place, number] = ID.exec(id) ?? [];
    if (name === undefined) return 'unknown';
    const found = this.#read(name, Number(place));
    if (found === null) return 'elsewhere';
    // The slot has been reused for a later mark.
    if (found > Number(number)) return 'unknown';
    return found === Number(number) ? 'sent' : 'unsent';
  }

  /** Closes the file. It is kept if one of its marks may still be looked up. */
  close(): void {
    this.#freeClosed();
    this.#file.close(this.#file.isUsed);
  }

  #takeClosed(): Place | null {
    this.#freeClosed();
    return this.#file.take();
  }

  /** Frees slots of closed marks, so that the one closed first is reused first. */
  #freeClosed(): void {
    for (const place of this.#closed.splice(0).toReversed()) this.#file.release(place);
  }

  #read(name: string, place: number): number | null {
    const bytes = Buffer.alloc(PLACE);
    try {
      const file = openSync(join(this.#folder, name + SUFFIX), 'r');
      try {
        if (readSync(file, bytes, 0, PLACE, place * PLACE) < PLACE) return null;
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
    return bytes.readUInt32BE(0);
  }

  async #forgetOld(): Promise<void> {
    for (const name of readdirSync(this.#folder).filter((each) => each.endsWith(SUFFIX))) {
      const path = join(this.#folder, name);
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
      if (Date.now() - mtimeMs > KEPT_MS) await onLeftBehind(path, async () => rmSync(path, { force: true }));
    }
  }
}
