// Ports of files: their metadata, uploads in several requests, and the store of their bytes.
import type { PageRequest } from './index.ts';
import type { UnixMs } from '../../base/units.ts';

/** An uploaded file. The blob store has its bytes under the file's id. */
export interface StoredFile {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  /** Purpose given by the client, or by the gateway for files that it writes. */
  readonly purpose: string;
  readonly filename: string;
  /** Detected from the bytes. */
  readonly mediaType: string;
  readonly bytes: number;
  /** Name by which clients find it too, unique in the project. Null: none. */
  readonly name: string | null;
  /** SHA-256 of the bytes, in hex. Null: stored by an earlier version. */
  readonly sha256: string | null;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

export interface FileStore {
  /**
   * Adds a file whose bytes are already stored. From then on it counts towards the quota. @throws GatewayError
   * `quota`, `conflict` for a name that another file of the project has
   */
  put(file: StoredFile): Promise<void>;
  /** @param id its id or its name */
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredFile | null>;
  /** True for a file of any project, even if expired: its bytes must not be swept. */
  exists(id: string): Promise<boolean>;
  /** Files in order of creation. @throws GatewayError `invalid_request` for an unknown `after` */
  list(
    projectId: string,
    page: PageRequest & { readonly purpose?: string | undefined },
    nowMs: UnixMs,
  ): Promise<FilePage>;
  /** Extends the expiry of a file to at least a given time. */
  keepUntil(projectId: string, id: string, untilMs: UnixMs): Promise<void>;
  /**
   * Deletes a file. The caller then deletes its bytes. @returns false if there is no such file @throws GatewayError
   * `conflict` while a batch that has not ended reads it
   */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes a bounded number of expired files. @returns their ids, whose bytes the caller then deletes */
  takeExpired(nowMs: UnixMs): Promise<readonly string[]>;
}

/** A file that is uploaded in several requests. */
export interface StoredUpload {
  /** A secret: it is sufficient to continue the upload, as Google's clients do without an API key. */
  readonly id: string;
  readonly projectId: string;
  /** Key that began the upload. */
  readonly keyId: string;
  readonly expiresAt: UnixMs;
  readonly purpose: string;
  readonly filename: string;
  /** As stated by the client; null: not stated. */
  readonly mediaType: string | null;
  /** Total bytes, as stated by the client; null: not stated. */
  readonly size: number | null;
  /** Names of blobs, in order. */
  readonly pieces: readonly string[];
  /** Total bytes of all pieces. */
  readonly bytes: number;
  /** Name of the future file. Null: none. */
  readonly name: string | null;
  /** Id of the file that it has become. Null: it has not ended. */
  readonly fileId: string | null;
}

export interface UploadStore {
  /** @throws GatewayError `quota` */
  begin(upload: StoredUpload): Promise<void>;
  find(id: string, nowMs: UnixMs): Promise<StoredUpload | null>;
  /**
   * Adds a piece whose bytes are already stored.
   * @param before bytes of the upload before this piece
   * @returns false if the upload has a different number of bytes, or has ended
   * @throws GatewayError `quota`
   */
  add(id: string, before: number, piece: { readonly name: string; readonly bytes: number }): Promise<boolean>;
  /**
   * Adds the file of an upload, whose bytes are already stored. The ended upload names it until it expires, without pieces.
   * @param before bytes of the upload
   * @returns false if the upload has a different number of bytes, or has ended
   * @throws GatewayError `quota`, `conflict` for a name that is taken; the upload is kept
   */
  finish(id: string, before: number, file: StoredFile): Promise<boolean>;
  /** Deletes an upload. @returns names of its pieces, whose bytes the caller then deletes */
  cancel(id: string): Promise<readonly string[]>;
  /**
   * Deletes a bounded number of expired uploads. @returns also the names of their pieces, whose bytes the caller then
   * deletes
   */
  takeExpired(nowMs: UnixMs): Promise<{ readonly uploads: number; readonly pieces: readonly string[] }>;
}

/** Bytes that are being written. Must be ended by exactly one of `keep` and `discard`. */
export interface BlobDraft {
  write(bytes: Uint8Array): Promise<void>;
  /** Stores the bytes under a name. They are durable when it resolves. */
  keep(name: string): Promise<void>;
  discard(): Promise<void>;
}

/** Bytes by name, in a folder or an object store. Names consist of word characters. */
export interface BlobStore {
  draft(): Promise<BlobDraft>;
  /** Null if there is no such blob. */
  read(name: string): Promise<Uint8Array | null>;
  stream(name: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Deletes a blob. Does nothing if it does not exist. */
  delete(name: string): Promise<void>;
  /** Deletes remains of a crash that were last written before `beforeMs`: drafts, and blobs that are not in use. */
  sweep(beforeMs: UnixMs, isKept: (name: string) => Promise<boolean>): Promise<void>;
}
