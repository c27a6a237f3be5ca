// Files that come in several requests: each brings a piece, and the last makes a file of them. Any process of an installation
// takes any piece. Knows no HTTP and no protocol.
import type { BlobStore, StoredFile, StoredUpload, UploadStore } from '../../accounts/ports/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Upload } from './files.ts';

/** Time that an upload may take. */
export const UPLOAD_MS: DurationMs = 86_400_000;
/** Bytes of which all pieces but the last are a multiple: an upload has no more pieces than it has of these. */
export const PIECE_UNIT = 262_144;

export interface ResumableUploadsOptions {
  readonly store: UploadStore;
  readonly blobs: BlobStore;
  /** Begins a file of any size. */
  readonly file: () => Promise<Upload>;
  readonly now: () => UnixMs;
}

export type NewUpload = Omit<StoredUpload, 'id' | 'expiresAt' | 'pieces' | 'bytes'>;

/** One piece on its way in. */
export interface PieceOnItsWay {
  /** Place of its first byte, as its sender says. */
  readonly offset: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Most bytes that the whole file may have. */
  readonly most: number;
}

export class ResumableUploads {
  readonly #options: ResumableUploadsOptions;

  constructor(options: ResumableUploadsOptions) {
    this.#options = options;
  }

  /** @throws GatewayError `quota` */
  async begin(upload: NewUpload): Promise<StoredUpload> {
    const { store, now } = this.#options;
    const begun = {
      ...upload,
      // 192 random bits, since the id is a secret.
      id: newId(newId('')),
      expiresAt: now() + UPLOAD_MS,
      pieces: [],
      bytes: 0,
    };
    await store.begin(begun);
    return begun;
  }

  /** Null for an id that is unknown or expired, and of an upload that has ended. */
  find(id: string): Promise<StoredUpload | null> {
    return this.#options.store.find(id, this.#options.now());
  }

  /**
   * Adds a piece, which is read to its end whatever happens.
   * @returns bytes of the upload now
   * @throws GatewayError `invalid_request` for a piece that does not fit, `conflict` where another came first, `too_large`, `quota`
   */
  async add(upload: StoredUpload, piece: PieceOnItsWay): Promise<number> {
    const { store, blobs } = this.#options;
    const draft = await blobs.draft();
    let isKept = false;
    try {
      const bytes = await readPiece(upload, piece, (some) => draft.write(some));
      if (bytes % PIECE_UNIT !== 0)
        throw wrong(
          `a piece must have a multiple of ${PIECE_UNIT} bytes unless it is the last (it has ${bytes})`,
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
   * Adds the last piece, which may be empty, and makes a file of the upload.
   * @param facts of the file, given its first 4096 bytes
   * @throws GatewayError as `add` does; the upload stays as it was, and may be gone on with
   */
  async finish(
    upload: StoredUpload,
    piece: PieceOnItsWay,
    facts: (head: Uint8Array) => Omit<StoredFile, 'bytes'>,
  ): Promise<StoredFile> {
    const { store, blobs } = this.#options;
    const file = await this.#options.file();
    let isKept = false;
    try {
      // The pieces before it are copied when the last has begun to come: one that does not fit costs no copy.
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
        throw wrong(`the upload has ${whole} bytes, and was to have ${upload.size}`);
      if (whole === 0) throw wrong('the file is empty');
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

  /** Ends an upload, and leaves nothing of it. */
  async cancel({ id }: StoredUpload): Promise<void> {
    const { store, blobs } = this.#options;
    for (const name of await store.cancel(id)) await blobs.delete(name);
  }

  /** Deletes expired uploads, a bounded number. Returns how many. */
  async purge(nowMs: UnixMs): Promise<number> {
    const { store, blobs } = this.#options;
    const { uploads, pieces } = await store.takeExpired(nowMs);
    for (const name of pieces) await blobs.delete(name);
    return uploads;
  }
}

/**
 * Reads a piece to its end, since a client that is still writing would see a reset connection instead of an answer.
 * @param write takes its bytes as long as they fit
 * @returns how many they are
 */
async function readPiece(
  upload: StoredUpload,
  { offset, bytes, most }: PieceOnItsWay,
  write: (some: Uint8Array) => Promise<void>,
): Promise<number> {
  let failure: Error | undefined;
  if (offset !== upload.bytes)
    failure = wrong(`bytes must begin at ${upload.bytes}, since so many have arrived (got ${offset})`);
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
    throw wrong(`the upload has more than the ${upload.size} bytes that it was to have`);
  if (whole > most)
    throw new GatewayError('too_large', `file: is larger than ${most} bytes`, { param: 'file' });
}

async function append(file: Upload, bytes: AsyncIterable<Uint8Array> | null): Promise<void> {
  if (!bytes) throw new GatewayError('not_found', 'Bytes of the upload are gone: begin it again.');
  for await (const some of bytes) await file.write(some);
}

function wrong(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

function overtaken(): GatewayError {
  return new GatewayError(
    'conflict',
    'Another request has gone on with this upload: ask how far it is with the command `query`.',
  );
}
