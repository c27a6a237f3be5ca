// Files as Google's clients know them (API reference, "Files", 2026-11). What is stored, and for whom, is not known here.
import type { JsonObject } from '../../../base/json/index.ts';
import type { ShownFile } from '../../protocol.ts';
import { fileNameOf } from './file-name.ts';

export interface ShownGeminiFile extends ShownFile {
  /** RFC 3339; null: never. */
  readonly expiresAt: string | null;
  /** Origin of the address at which its client reaches the gateway. */
  readonly origin: string;
  /** True: the gateway wrote it, as it does results. Google's clients download no others. */
  readonly isGenerated: boolean;
}

/** A `File`. */
export function encodeGeminiFile(file: ShownGeminiFile): JsonObject {
  const { id, origin, isGenerated, createdAt, expiresAt } = file;
  const name = fileNameOf(id);
  const uri = `${origin}/v1beta/${name}`;
  return {
    name,
    displayName: file.filename,
    mimeType: file.mediaType,
    // Numbers of 64 bits are strings in Google's JSON.
    sizeBytes: String(file.bytes),
    createTime: createdAt,
    updateTime: createdAt,
    ...(expiresAt !== null && { expirationTime: expiresAt }),
    uri,
    ...(isGenerated && { downloadUri: `${uri}:download?alt=media` }),
    state: 'ACTIVE',
    source: isGenerated ? 'GENERATED' : 'UPLOADED',
  };
}
