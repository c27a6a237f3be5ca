// Encodes files as in Anthropic's Files API (API reference, "Files", beta 2025-04-14, 2026-11).
import type { JsonObject } from '../../base/json/index.ts';
import type { FileShapes, ShownFile } from '../protocol.ts';

/** Forms of uploads, lists and deletions. */
export const fileShapes: FileShapes = {
  // Anthropic's uploads have no purpose: every file can be used in a message.
  usualPurpose: 'user_data',
  names: { after: 'after_id' },
  encode,
  encodeList: (files, hasMore) => ({
    data: files.map(encode),
    has_more: hasMore,
    first_id: files[0]?.id ?? null,
    last_id: files.at(-1)?.id ?? null,
  }),
  encodeDeleted: (id) => ({ id, type: 'file_deleted' }),
};

function encode(file: ShownFile): JsonObject {
  return {
    id: file.id,
    type: 'file',
    filename: file.filename,
    mime_type: file.mediaType,
    size_bytes: file.bytes,
    created_at: file.createdAt,
    downloadable: true,
  };
}
