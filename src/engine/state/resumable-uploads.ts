// Resumable uploads: files that arrive in pieces over several requests. The last piece completes the file. Any process of an
// installation accepts any piece.
import type { BlobStore, StoredFile, StoredUpload, UploadStore } from '../../accounts/ports/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { NewFile, Upload } from './files.ts';

/** Milliseconds after which an unfinished upload expires. */
export const UPLOAD_MS: DurationMs = 86_400_000;
/** All pieces but the last must be a multiple of this many bytes, which bounds the number of pieces. */
export const PIECE_UNIT = 262_144;

export interface ResumableUploadsOptions {
  readonly store: UploadStore;
  readonly blobs: BlobStore;
  /** Starts writing a file of any size. */
  readonly file: () => Promise<Upload>;
  readonly now: () => UnixMs;
}

export type NewUpload = Omit<StoredUpload, 'id' | 'expiresAt' | 'pieces' | 'bytes' | 'fileId'>;

/** A piece that is being received. */
export interface PieceOnItsWay {
  /** Offset of its first byte, as stated by the client. */
  readonly offset: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Maximum size of the whole file in bytes. */
  readonly most: number;
}

export class ResumableUploads {
  readonly #options: ResumableUploadsOptions;

  constructor(options: ResumableUploadsOptions) {
    this.#options = options;
  }

  /** Begins an upload. @throws GatewayError `quota` */
  async begin(upload: NewUpload): Promise<StoredUpload> {
    const { store, now } = this.#options;
    const begun = {
      ...upload,
      // 192 random bits, because the id is a secret.
      id: newId(newId('')),
      expiresAt: now() + UPLOAD_MS,
      pieces: [],
      bytes: 0,
      fileId: null,
    };
    await store.begin(begun);
    return begun;
  }

  /** Finds an upload; null if it is unknown, cancelled or expired. */
  find(id: string): Promise<StoredUpload | null> {
    return this.#options.store.find(id, this.#options.now());
  }

  /**
   * Adds a piece. It is always read to its end.
   * @returns total bytes of the upload
   * @throws GatewayError `invalid_request` for a wrong offset or size, `conflict` after a concurrent piece, `too_large`, `quota`
   */
  async add(upload: StoredUpload, piece: PieceOnItsWay): Promise<number> {
    const { store, blobs } = this.#options;
    const draft = await blobs.draft();
    let isKept = false;
    try {
      const bytes = await readPiece(upload, piece, (some) => draft.write(some));
      if (bytes % PIECE_UNIT !== 0)
        throw wrong(
          `A chunk other than the last must have a multiple of ${PIECE_UNIT} bytes (got ${bytes}).`,
        );
      if (bytes === 0) return upload.bytes;
      const name = newId('piece-');
      isKept = true;
      await draft.keep(name);
      try {
        if (!(await store.add(upload.id, upload.bytes, { name, bytes }))) throw overtaken();
      } catch (error) {
        await blobs.delete(name);
        throw error;
      }
      return upload.bytes + bytes;
    } finally {
      if (!isKept) await draft.discard();
    }
  }

  /**
   * Adds the last piece, which may be empty, and completes the file.
   * @param facts returns the metadata of the file, given its first 4096 bytes
   * @throws GatewayError as `add`; the upload stays unchanged and can be continued
   */
  async finish(
    upload: StoredUpload,
    piece: PieceOnItsWay,
    facts: (head: Uint8Array) => NewFile,
  ): Promise<StoredFile> {
    const { store, blobs } = this.#options;
    const file = await this.#options.file();
    let isKept = false;
    try {
      // Earlier pieces are copied once the last one has begun to arrive, so that a refused one causes no copy.
      let isCopied = false;
      const copy = async (): Promise<void> => {
        if (isCopied) return;
        isCopied = true;
        for (const name of upload.pieces) await append(file, await blobs.stream(name));
      };
      const bytes = await readPiece(upload, piece, async (some) => {
        await copy();
        await file.write(some);
      });
      const whole = upload.bytes + bytes;
      if (upload.size !== null && whole !== upload.size)
        throw wrong(`The upload has ${whole} bytes, but ${upload.size} were announced.`);
      if (whole === 0) throw wrong('The file is empty.');
      await copy();
      isKept = true;
      const kept = await file.keep(facts(file.head), async (made) => {
        if (!(await store.finish(upload.id, upload.bytes, made))) throw overtaken();
      });
      for (const name of upload.pieces) await blobs.delete(name);
      return kept;
    } finally {
      if (!isKept) await file.discard();
    }
  }

  /** Cancels an upload, and deletes its pieces. */
  async cancel({ id }: StoredUpload): Promise<void> {
    const { store, blobs } = this.#options;
    for (const name of await store.cancel(id)) await blobs.delete(name);
  }

  /** Deletes a bounded number of expired uploads. @returns how many */
  async purge(nowMs: UnixMs): Promise<number> {
    const { store, blobs } = this.#options;
    const { uploads, pieces } = await store.takeExpired(nowMs);
    for (const name of pieces) await blobs.delete(name);
    return uploads;
  }
}

/**
 * Reads a piece to its end, because a client that is still writing would see a connection reset instead of the response.
 * @param write receives the bytes until an error occurs
 * @returns number of bytes
 */
async function readPiece(
  upload: StoredUpload,
  { offset, bytes, most }: PieceOnItsWay,
  write: (some: Uint8Array) => Promise<void>,
): Promise<number> {
  let failure: Error | undefined;
  if (offset !== upload.bytes)
    failure = wrong(
      `The offset must be ${upload.bytes}, the number of bytes received so far (got ${offset}).`,
    );
  let count = 0;
  for await (const some of bytes) {
    if (failure) continue;
    count += some.length;
    try {
      refuseMore(upload, count, most);
      await write(some);
    } catch (error) {
      failure = error instanceof Error ? error : GatewayError.from(error);
    }
  }
  if (failure) throw failure;
  return count;
}

function refuseMore(upload: StoredUpload, count: number, most: number): void {
  const whole = upload.bytes + count;
  if (upload.size !== null && whole > upload.size)
    throw wrong(`The upload has more than the announced ${upload.size} bytes.`);
  if (whole > most)
    throw new GatewayError('too_large', `file: must have at most ${most} bytes`, { param: 'file' });
}

async function append(file: Upload, bytes: AsyncIterable<Uint8Array> | null): Promise<void> {
  if (!bytes) throw new GatewayError('not_found', 'Data of the upload was lost. Start the upload again.');
  for await (const some of bytes) await file.write(some);
}

function wrong(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

function overtaken(): GatewayError {
  return new GatewayError(
    'conflict',
    'Another request has continued this upload. Query its progress with the command `query`.',
  );
}
