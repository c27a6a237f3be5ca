// Encodes files for Google's clients (API reference, "Files", 2026-11).
import type { JsonObject } from '../../../base/json/index.ts';
import type { ShownFile } from '../../protocol.ts';
import { fileNameOf } from './file-name.ts';

export interface ShownGeminiFile extends ShownFile {
  /** RFC 3339; null: never. */
  readonly expiresAt: string | null;
  /** Name given by the client. Null: none. */
  readonly name: string | null;
  /** In hex; null: unknown. */
  readonly sha256: string | null;
  /** Origin of the address at which the client reaches the gateway. */
  readonly origin: string;
  /** True: the gateway created it, such as batch results. Google's clients only download these. */
  readonly isGenerated: boolean;
}

/**
 * Encodes a `File`. `uri` has the stored id: addresses with other names may be files of Google. `sha256Hash` is the hex text in
 * base64, as Google returns it (observed in responses of 2025-07).
 */
export function encodeGeminiFile(file: ShownGeminiFile): JsonObject {
  const { id, origin, isGenerated, createdAt, expiresAt, sha256 } = file;
  const uri = `${origin}/v1beta/${fileNameOf(id)}`;
  return {
    name: file.name === null ? fileNameOf(id) : `files/${file.name}`,
    displayName: file.filename,
    mimeType: file.mediaType,
    // Google's JSON has 64-bit numbers as strings.
    sizeBytes: String(file.bytes),
    createTime: createdAt,
    updateTime: createdAt,
    ...(expiresAt !== null && { expirationTime: expiresAt }),
    ...(sha256 !== null && { sha256Hash: btoa(sha256) }),
    uri,
    ...(isGenerated && { downloadUri: `${uri}:download?alt=media` }),
    state: 'ACTIVE',
    source: isGenerated ? 'GENERATED' : 'UPLOADED',
  };
}
