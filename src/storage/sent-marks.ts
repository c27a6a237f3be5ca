// Marks of requests that went out to an upstream: one number each in a file that is mapped into memory. They are there when
// the process is killed, and tell whoever settles its requests which of them were sent.
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SentMark, SentMarkStore } from '../accounts/ports/index.ts';
import { mapNewFile } from '../base/runtime/mapped-file.ts';
import { lockFile } from '../base/runtime/sqlite.ts';
import { LOCK_SUFFIX, onLeftBehind } from './journal/journal-file.ts';

const SUFFIX = '.sent';
const PLACE = 4;
const PLACES = 8192;
/** How long marks of a killed process are kept, in milliseconds: its jobs are settled within seconds, or when somebody starts. */
const KEPT_MS = 7 * 86_400_000;
/** Name of a mark: its file, its place and its number. */
const ID = /^([0-9a-f]{16}):(\d{1,5}):(\d{1,10})$/;

/** Marks of a process that leaves nothing behind. */
export const NO_MARKS: SentMarkStore = { open: () => null, wasSent: () => null };

export class SentMarks implements SentMarkStore {
  readonly #folder: string;
  readonly #name = randomBytes(8).toString('hex');
  #view: DataView | undefined;
  #unlock: (() => void) | undefined;
  #free: number[] = [];
  #made = 0;
  /** True where there is no file, and will be none: a full disk. */
  #isOff = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(): SentMark | null {
    const view = this.#view ?? this.#make();
    const place = view && this.#free.pop();
    if (!view || place === undefined) return null;
    this.#made += 1;
    const number = this.#made;
    return {
      id: `${this.#name}:${place}:${number}`,
      sent: () => view.setUint32(place * PLACE, number),
      close: () => this.#free.push(place),
    };
  }

  wasSent(id: string): boolean | null {
    const [, name = '', place, number] = ID.exec(id) ?? [];
    const found = this.#read(name, Number(place));
    // The place has had a later mark since.
    if (found === null || found > Number(number)) return null;
    return found === Number(number);
  }

  /** Gives the file up. It stays where somebody may ask for one of its marks. */
  close(): void {
    const isUsed = this.#view !== undefined && this.#free.length < PLACES;
    this.#isOff = true;
    this.#view = undefined;
    if (!isUsed) rmSync(this.#path(this.#name), { force: true });
    this.#unlock?.();
    rmSync(this.#path(this.#name) + LOCK_SUFFIX, { force: true });
  }

  #path(name: string): string {
    return join(this.#folder, name + SUFFIX);
  }

  #read(name: string, place: number): number | null {
    const bytes = Buffer.alloc(PLACE);
    try {
      const file = openSync(this.#path(name), 'r');
      try {
        if (readSync(file, bytes, 0, PLACE, place * PLACE) < PLACE) return null;
      } finally {
        closeSync(file);
      }
    } catch {
      // The process is of another machine, or gone.
      return null;
    }
    return bytes.readUInt32BE(0);
  }

  #make(): DataView | undefined {
    if (this.#isOff) return undefined;
    const path = this.#path(this.#name);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      void this.#forgetOld();
      // The lock comes before the file: whoever finds one without a lock may take it.
      this.#unlock = lockFile(path + LOCK_SUFFIX) ?? undefined;
      const { buffer, byteOffset, byteLength } = mapNewFile(path, PLACE * PLACES);
      this.#view = new DataView(buffer, byteOffset, byteLength);
    } catch {
      // Requests without marks that were about to be sent count as sent.
      this.#isOff = true;
      return undefined;
    }
    this.#free = Array.from({ length: PLACES }, (_, n) => PLACES - 1 - n);
    return this.#view;
  }

  async #forgetOld(): Promise<void> {
    for (const name of readdirSync(this.#folder).filter((each) => each.endsWith(SUFFIX))) {
      const path = join(this.#folder, name);
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
      if (Date.now() - mtimeMs > KEPT_MS) await onLeftBehind(path, async () => rmSync(path, { force: true }));
    }
  }
}
