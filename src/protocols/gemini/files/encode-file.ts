// Encodes files for Google's clients (API reference, "Files", 2026-11).
import type { JsonObject } from '../../../base/json/index.ts';
import type { ShownFile } from '../../protocol.ts';
import { fileNameOf } from './file-name.ts';

export interface ShownGeminiFile extends ShownFile {
  /** RFC 3339; null: never. */
  readonly expiresAt: string | null;
  /** Origin of the address at which the client reaches the gateway. */
  readonly origin: string;
  /** True: the gateway created it, such as batch results. Google's clients only download these. */
  readonly isGenerated: boolean;
}

/** Encodes a `File`. */
export function encodeGeminiFile(file: ShownGeminiFile): JsonObject {
  const { id, origin, isGenerated, createdAt, expiresAt } = file;
  const name = fileNameOf(id);
  const uri = `${origin}/v1beta/${name}`;
  return {
    name,
    displayName: file.filename,
    mimeType: file.mediaType,
    // Google's JSON has 64-bit numbers as strings.
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
