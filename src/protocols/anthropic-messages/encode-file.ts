// Files as Anthropic's Files API shows them (API reference, "Files", beta 2025-04-14, 2026-11). Shapes only: what is stored,
// and for whom, is not known here.
import type { JsonObject } from '../../base/json/index.ts';
import type { FileShapes, ShownFile } from '../protocol.ts';

/** The shapes of uploads, lists and deletions. */
export const fileShapes: FileShapes = {
  // Its uploads have no purpose: any file may be named in a message.
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
