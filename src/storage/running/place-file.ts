// A memory-mapped file of fixed-size slots. Writes are plain memory stores and survive when the process is killed. The
// file is created with its first slot, and locked while its process runs.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mapNewFile } from '../../base/runtime/mapped-file.ts';
import { lockFile } from '../../base/runtime/sqlite.ts';
import { LOCK_SUFFIX } from '../journal/journal-file.ts';

export interface PlaceFileOptions {
  readonly folder: string;
  readonly suffix: string;
  /** Bytes per slot, and number of slots. */
  readonly bytes: number;
  readonly places: number;
}

export interface Place {
  /** The whole file. */
  readonly view: DataView;
  /** Offset of the slot in bytes. */
  readonly start: number;
}

export class PlaceFile {
  /** File name without suffix: 16 hexadecimal characters. */
  readonly name = randomBytes(8).toString('hex');
  readonly #options: PlaceFileOptions;
  #view: DataView | undefined;
  #unlock: (() => void) | undefined;
  /** Offsets of free slots. */
  #free: number[] = [];
  /** True if no file can be created: the disk is full, or the file is closed. */
  #isOff = false;

  constructor(options: PlaceFileOptions) {
    this.#options = options;
  }

  /** True while any slot is taken. */
  get isUsed(): boolean {
    return this.#view !== undefined && this.#free.length < this.#options.places;
  }

  /** @returns null if no slot is available */
  take(): Place | null {
    const view = this.#view ?? this.#make();
    const start = view && this.#free.pop();
    return view && start !== undefined ? { view, start } : null;
  }

  release({ start }: Place): void {
    this.#free.push(start);
  }

  /** Closes the file. @param keeps true: it is kept for later readers */
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
      // Locked before it is created, because a file without a lock may be claimed by other processes.
      this.#unlock = lockFile(path + LOCK_SUFFIX) ?? undefined;
      const mapped = mapNewFile(path, bytes * places);
      this.#view = new DataView(mapped.buffer, mapped.byteOffset, mapped.byteLength);
    } catch {
      // Serving requests matters more than what would be recovered after a crash.
      this.#isOff = true;
      return undefined;
    }
    this.#free = Array.from({ length: places }, (_, at) => (places - 1 - at) * bytes);
    return this.#view;
  }
}
