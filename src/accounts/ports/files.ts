// Files of projects: what is known of them, uploads that become files, and where their bytes lie.
import type { PageRequest } from './index.ts';
import type { UnixMs } from '../../base/units.ts';

/** An uploaded file; its bytes lie in the blob store under its id. */
export interface StoredFile {
  readonly id: string;
  readonly projectId: string;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs | null;
  /** Word of the client, or of the gateway for what it writes itself. */
  readonly purpose: string;
  readonly filename: string;
  /** As its bytes say. */
  readonly mediaType: string;
  readonly bytes: number;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

export interface FileStore {
  /** Written after its bytes, which it makes count. @throws GatewayError `quota` */
  put(file: StoredFile): Promise<void>;
  find(projectId: string, id: string, nowMs: UnixMs): Promise<StoredFile | null>;
  /** True for every project's file, also an expired one: its bytes are not to be swept away. */
  exists(id: string): Promise<boolean>;
  /** Files in the order of their making. @throws GatewayError `invalid_request` for an unknown `after` */
  list(
    projectId: string,
    page: PageRequest & { readonly purpose?: string | undefined },
    nowMs: UnixMs,
  ): Promise<FilePage>;
  /** A file is kept until then at least. */
  keepUntil(projectId: string, id: string, untilMs: UnixMs): Promise<void>;
  /** False when there is no such file. Its bytes are to be deleted afterwards. */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes a bounded number of expired files, and gives the ids of those whose bytes are to follow. */
  takeExpired(nowMs: UnixMs): Promise<readonly string[]>;
}

/** A file on its way in, by several requests. */
export interface StoredUpload {
  /** A secret: whoever knows it may go on with the upload, as Google's clients do without their key. */
  readonly id: string;
  readonly projectId: string;
  /** The key that began it. */
  readonly keyId: string;
  readonly expiresAt: UnixMs;
  readonly purpose: string;
  readonly filename: string;
  /** As its client says; null: it says nothing. */
  readonly mediaType: string | null;
  /** Bytes that it will have, as its client says; null: it says nothing. */
  readonly size: number | null;
  /** Names of blobs, in order. */
  readonly pieces: readonly string[];
  /** Bytes of all pieces. */
  readonly bytes: number;
}

export interface UploadStore {
  /** @throws GatewayError `quota` */
  begin(upload: StoredUpload): Promise<void>;
  find(id: string, nowMs: UnixMs): Promise<StoredUpload | null>;
  /**
   * Adds a piece, whose bytes are there.
   * @param before bytes of the upload in front of it
   * @returns false where the upload has others, or has ended
   * @throws GatewayError `quota`
   */
  add(id: string, before: number, piece: { readonly name: string; readonly bytes: number }): Promise<boolean>;
  /**
   * Puts a file, whose bytes are there, in the place of the upload.
   * @param before bytes of the upload
   * @returns false where the upload has others, or has ended
   * @throws GatewayError `quota`; the upload stays then
   */
  finish(id: string, before: number, file: StoredFile): Promise<boolean>;
  /** Forgets an upload, and gives the names of its pieces, whose bytes are to follow. */
  cancel(id: string): Promise<readonly string[]>;
  /** Forgets a bounded number of expired uploads, and gives the names of pieces whose bytes are to follow. */
  takeExpired(nowMs: UnixMs): Promise<{ readonly uploads: number; readonly pieces: readonly string[] }>;
}

/** Bytes on their way in. Exactly one of `keep` and `discard` ends it. */
export interface BlobDraft {
  write(bytes: Uint8Array): Promise<void>;
  /** The bytes are there under this name, durably, when it resolves. */
  keep(name: string): Promise<void>;
  discard(): Promise<void>;
}

/** Bytes by name: a folder, or any store of objects. Names are word characters. */
export interface BlobStore {
  draft(): Promise<BlobDraft>;
  /** Null when there is none of this name. */
  read(name: string): Promise<Uint8Array | null>;
  stream(name: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Nothing happens when there is none. */
  delete(name: string): Promise<void>;
  /** Deletes what a crash left behind: drafts, and blobs that nobody keeps, last written before `beforeMs`. */
  sweep(beforeMs: UnixMs, isKept: (name: string) => Promise<boolean>): Promise<void>;
}
