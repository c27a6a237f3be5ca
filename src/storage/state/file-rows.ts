// What is known of uploaded files, as rows. Their bytes are elsewhere, but count against the quota of their project.
import type { StoredFile } from '../ports.ts';
import { NEVER, rowBytes } from './sizes.ts';
import type { FileTable } from './tables.ts';

export type FileRow = Omit<FileTable, 'row'> & { readonly row: number };

/** What a file counts for. */
export function countedBytes({ filename, bytes }: StoredFile): number {
  return rowBytes(filename) + bytes;
}

/** The file of a row. */
export function decodeFile(row: FileRow): StoredFile {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    purpose: row.purpose,
    filename: row.filename,
    mediaType: row.media_type,
    bytes: row.bytes,
  };
}
