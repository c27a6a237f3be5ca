// A file of equal places that is mapped into memory: a process writes them by a few stores, and what it wrote is there when it is
// killed. The file is made with the first place that is taken, and is locked while its process lives.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mapNewFile } from '../base/runtime/mapped-file.ts';
import { lockFile } from '../base/runtime/sqlite.ts';
import { LOCK_SUFFIX } from './journal/journal-file.ts';

export interface PlaceFileOptions {
  readonly folder: string;
  readonly suffix: string;
  /** Bytes of a place, and how many there are. */
  readonly bytes: number;
  readonly places: number;
}

export interface Place {
  /** The whole file. */
  readonly view: DataView;
  /** Begin of the place in it, in bytes. */
  readonly start: number;
}

export class PlaceFile {
  /** Name of the file without its suffix: 16 hexadecimal characters. */
  readonly name = randomBytes(8).toString('hex');
  readonly #options: PlaceFileOptions;
  #view: DataView | undefined;
  #unlock: (() => void) | undefined;
  /** Begins of the places that nobody has. */
  #free: number[] = [];
  /** True where there is no file, and will be none: a full disk, or the end. */
  #isOff = false;

  constructor(options: PlaceFileOptions) {
    this.#options = options;
  }

  /** True while somebody has a place. */
  get isUsed(): boolean {
    return this.#view !== undefined && this.#free.length < this.#options.places;
  }

  /** @returns null where there is no room */
  take(): Place | null {
    const view = this.#view ?? this.#make();
    const start = view && this.#free.pop();
    return view && start !== undefined ? { view, start } : null;
  }

  giveBack({ start }: Place): void {
    this.#free.push(start);
  }

  /** Gives the file up. @param keeps true: it stays, for whoever may ask for what is in it */
  close(keeps: boolean): void {
    this.#isOff = true;
    this.#view = undefined;
    if (!this.#unlock) return;
    const path = this.#path();
    if (!keeps) rmSync(path, { force: true });
    this.#unlock();
    rmSync(path + LOCK_SUFFIX, { force: true });
  }

  #path(): string {
    return join(this.#options.folder, this.name + this.#options.suffix);
  }

  #make(): DataView | undefined {
    if (this.#isOff) return undefined;
    const { folder, bytes, places } = this.#options;
    const path = this.#path();
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // The lock comes before the file: whoever finds one without a lock may take it.
      this.#unlock = lockFile(path + LOCK_SUFFIX) ?? undefined;
      const mapped = mapNewFile(path, bytes * places);
      this.#view = new DataView(mapped.buffer, mapped.byteOffset, mapped.byteLength);
    } catch {
      // Requests are worth more than what would be known of them after a crash.
      this.#isOff = true;
      return undefined;
    }
    this.#free = Array.from({ length: places }, (_, at) => (places - 1 - at) * bytes);
    return this.#view;
  }
}
