// Recognizes parts with Gemini's own hosted work, and with images that it created.
import { asObject, asString } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { HostedFacts } from '../../canonical/index.ts';
import { standardBase64 } from './thought-signature.ts';

/** Code execution, searches and fetched pages, by the member that determines the part's kind. Sent back unchanged. */
export const HOSTED_PARTS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

const KINDS: ReadonlySet<string> = new Set(HOSTED_PARTS);

/** True for a kind of hosted call that is a separate part. Other work is outside the parts. */
export function isHostedPart(kind: string): boolean {
  return KINDS.has(kind);
}

type Picture = Extract<HostedFacts, { type: 'image' }>;

/** Returns the image in a part of an answer; undefined for other parts, and for a draft in the thoughts. */
export function readPicture(part: JsonObject): Picture | undefined {
  const { mimeType, data } = asObject(part['inlineData']);
  const mediaType = asString(mimeType);
  const bytes = asString(data);
  if (!bytes || part['thought'] === true || mediaType?.startsWith('image/') !== true) return undefined;
  return { type: 'image', data: standardBase64(bytes), mediaType };
}

/** Encodes another vendor's image as a part. Gemini requires the media type, so PNG is assumed if it is missing. */
export function encodePicture({ data, mediaType = 'image/png' }: Picture): JsonObject {
  return { inlineData: { mimeType: mediaType, data } };
}
