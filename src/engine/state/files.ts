// Uploaded files: keeps their bytes and their metadata consistent.
import { createHash } from 'node:crypto';
import { GatewayError } from '../../canonical/index.ts';
import type {
  BlobDraft,
  BlobStore,
  FilePage,
  FileStore,
  PageRequest,
  StoredFile,
  UploadStore,
} from '../../accounts/ports/index.ts';
import type { UnixMs } from '../../base/units.ts';
import { ResumableUploads, UPLOAD_MS } from './resumable-uploads.ts';

export interface FilesOptions {
  readonly store: FileStore;
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  /** Maximum bytes of one file, and of all files of one request together; read each time. */
  readonly maxBytes: () => number;
  readonly now: () => UnixMs;
}

export { PIECE_UNIT, type PieceOnItsWay } from './resumable-uploads.ts';

/** Number of leading bytes that are kept to detect the file type. */
const HEAD_BYTES = 4096;
/** Minimum age of abandoned bytes to delete: those of an upload in progress are younger. Also the interval between sweeps. */
const SWEEP_AGE_MS = UPLOAD_MS;

export class Files {
  readonly #options: FilesOptions;
  /** Files that come in several requests. */
  readonly resumable: ResumableUploads;
  #sweptAt = -Infinity;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.resumable = new ResumableUploads({
      store: options.uploads,
      blobs: options.blobs,
      file: () => this.upload(Infinity),
      now: options.now,
    });
  }

  get maxBytes(): number {
    return this.#options.maxBytes();
  }

  /** Starts an upload. @param most maximum bytes; absent: the configured maximum */
  async upload(most = this.maxBytes): Promise<Upload> {
    return new Upload(this.#options.store, this.#options.blobs, await this.#options.blobs.draft(), most);
  }

  /** Extends a file's expiry to at least this time. */
  keepUntil({ projectId, id }: StoredFile, untilMs: UnixMs): Promise<void> {
    return this.#options.store.keepUntil(projectId, id, untilMs);
  }

  /** Null: the id is unknown, expired or belongs to another project. */
  find(projectId: string, id: string): Promise<StoredFile | null> {
    return this.#options.store.find(projectId, id, this.#options.now());
  }

  /** @throws GatewayError `invalid_request` for an unknown `after` */
  list(projectId: string, page: PageRequest & { readonly purpose?: string | undefined }): Promise<FilePage> {
    return this.#options.store.list(projectId, page, this.#options.now());
  }

  /** Streams the bytes. Null: they no longer exist. */
  stream({ id }: StoredFile): Promise<ReadableStream<Uint8Array> | null> {
    return this.#options.blobs.stream(id);
  }

  /** Reads all bytes. Null: they no longer exist. */
  read({ id }: StoredFile): Promise<Uint8Array | null> {
    return this.#options.blobs.read(id);
  }

  /** False: there is no such file. @throws GatewayError `conflict` while a batch that has not ended reads it */
  async delete(projectId: string, id: string): Promise<boolean> {
    const isDeleted = await this.#options.store.delete(projectId, id);
    if (isDeleted) await this.#options.blobs.delete(id);
    return isDeleted;
  }

  /** Deletes a bounded number of expired files and uploads, and once a day abandoned bytes. Returns how many expired. */
  async purge(nowMs: UnixMs): Promise<number> {
    const { store, blobs } = this.#options;
    const expired = await store.takeExpired(nowMs);
    for (const id of expired) await blobs.delete(id);
    const unfinished = await this.resumable.purge(nowMs);
    if (nowMs - this.#sweptAt >= SWEEP_AGE_MS) {
      this.#sweptAt = nowMs;
      await blobs.sweep(nowMs - SWEEP_AGE_MS, (id) => store.exists(id));
    }
    return expired.length + unfinished;
  }
}

/** Facts of a file besides its bytes. */
export type NewFile = Omit<StoredFile, 'bytes' | 'sha256' | 'name'> & Partial<Pick<StoredFile, 'name'>>;

/** An upload in progress. Exactly one of `keep` and `discard` ends it. */
export class Upload {
  readonly #store: FileStore;
  readonly #blobs: BlobStore;
  readonly #draft: BlobDraft;
  readonly #most: number;
  readonly #sha256 = createHash('sha256');
  #head = new Uint8Array(0);
  #bytes = 0;

  constructor(store: FileStore, blobs: BlobStore, draft: BlobDraft, most: number) {
    this.#store = store;
    this.#blobs = blobs;
    this.#draft = draft;
    this.#most = most;
  }

  /** The first bytes, at most 4096. */
  get head(): Uint8Array {
    return this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws GatewayError `too_large` */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#bytes + bytes.length > this.#most) throw tooLarge(this.#most, 'batches.max_mb');
    if (this.#head.length < HEAD_BYTES) {
      const more = bytes.subarray(0, HEAD_BYTES - this.#head.length);
      this.#head = new Uint8Array([...this.#head, ...more]);
    }
    this.#bytes += bytes.length;
    this.#sha256.update(bytes);
    await this.#draft.write(bytes);
  }

  /**
   * @param put inserts the row. Default: the store's own
   * @throws GatewayError `quota` or `conflict`; nothing is stored then
   */
  async keep(
    { name = null, ...facts }: NewFile,
    put = (file: StoredFile): Promise<void> => this.#store.put(file),
  ): Promise<StoredFile> {
    const file = { ...facts, name, bytes: this.#bytes, sha256: this.#sha256.digest('hex') };
    // Bytes are stored before the row: bytes without a row are swept, while a row without bytes would be an unreadable
    // file.
    await this.#draft.keep(file.id);
    try {
      await put(file);
    } catch (error) {
      await this.#blobs.delete(file.id);
      throw error;
    }
    return file;
  }

  discard(): Promise<void> {
    return this.#draft.discard();
  }
}

/** @param setting names the limit */
export function tooLarge(most: number, setting: string): GatewayError {
  return new GatewayError('too_large', `file: must have at most ${most} bytes (${setting})`, {
    param: 'file',
  });
}
