// Blobs in a folder. They are written to a draft and renamed when complete, so that a name never refers to partial data.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobDraft, BlobStore } from '../../accounts/ports/index.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorCode } from '../../base/lib/errors.ts';

/** Folder of drafts. */
const DRAFTS = 'drafts';
const READ_BYTES = 256 * 1024;

export class BlobFolder implements BlobStore {
  readonly #folder: string;

  /** @param folder created on first use, accessible only to its owner */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async draft(): Promise<BlobDraft> {
    const folder = await this.#made(DRAFTS);
    const path = join(folder, randomBytes(12).toString('hex'));
    return new FileDraft(path, await open(path, 'wx', 0o600), (name) => this.#placeFor(name));
  }

  async read(name: string): Promise<Uint8Array | null> {
    return readFile(this.pathOf(name)).catch(orNull);
  }

  async stream(name: string): Promise<ReadableStream<Uint8Array> | null> {
    const handle = await open(this.pathOf(name), 'r').catch(orNull);
    if (!handle) return null;
    return new ReadableStream({
      async pull(controller) {
        const buffer = new Uint8Array(READ_BYTES);
        const { bytesRead } = await handle.read(buffer, 0, READ_BYTES);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await handle.close();
        controller.close();
      },
      cancel: () => handle.close(),
    });
  }

  async delete(name: string): Promise<void> {
    await rm(this.pathOf(name), { force: true });
  }

  async sweep(beforeMs: UnixMs, isKept: (name: string) => Promise<boolean>): Promise<void> {
    for (const shard of await readdir(this.#folder).catch(() => [])) {
      for (const name of await readdir(join(this.#folder, shard)).catch(() => [])) {
        const path = join(this.#folder, shard, name);
        const facts = await stat(path).catch(orNull);
        if (!facts || facts.mtimeMs >= beforeMs) continue;
        if (shard === DRAFTS || !(await isKept(name))) await rm(path, { force: true });
      }
    }
  }

  async #placeFor(name: string): Promise<string> {
    await this.#made(shardOf(name));
    return this.pathOf(name);
  }

  /** Path of a blob. @throws TypeError for an invalid name */
  pathOf(name: string): string {
    // Names are the gateway's own ids. Checked anyway, so that no path can leave the folder.
    if (!/^[\w-]{3,100}$/.test(name)) throw new TypeError('not a valid blob name');
    return join(this.#folder, shardOf(name), name);
  }

  async #made(part: string): Promise<string> {
    const folder = join(this.#folder, part);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}

class FileDraft implements BlobDraft {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #placeFor: (name: string) => Promise<string>;

  constructor(path: string, handle: FileHandle, placeFor: (name: string) => Promise<string>) {
    this.#path = path;
    this.#handle = handle;
    this.#placeFor = placeFor;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, from);
      from += bytesWritten;
    }
  }

  async keep(name: string): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#path, await this.#placeFor(name));
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#path, { force: true });
  }
}

/** Subfolder of a blob, from the random end of its name, so that folders stay small. */
function shardOf(name: string): string {
  return name.slice(-2);
}

function orNull(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
