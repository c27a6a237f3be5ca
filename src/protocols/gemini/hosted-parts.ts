// Which parts hold work that Gemini did by itself, and pictures that it made. Knows neither requests nor answers.
import { asObject, asString } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { HostedFacts } from '../../canonical/index.ts';
import { standardBase64 } from './thought-signature.ts';

/** Code, searches and fetched pages, by the member that tells the part's kind; they go back as they came. */
export const HOSTED_PARTS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

const KINDS: ReadonlySet<string> = new Set(HOSTED_PARTS);

/** True for the kind of a hosted call that is a part of its own; other work stands beside the parts. */
export function isHostedPart(kind: string): boolean {
  return KINDS.has(kind);
}

type Picture = Extract<HostedFacts, { type: 'image' }>;

/** The picture in a part of an answer; undefined for other parts, and for a draft among the thoughts. */
export function readPicture(part: JsonObject): Picture | undefined {
  const { mimeType, data } = asObject(part['inlineData']);
  const mediaType = asString(mimeType);
  const bytes = asString(data);
  if (!bytes || part['thought'] === true || mediaType?.startsWith('image/') !== true) return undefined;
  return { type: 'image', data: standardBase64(bytes), mediaType };
}

/** A picture that somebody else made, as a part. Gemini demands the type; a picture that names none is taken for PNG. */
export function encodePicture({ data, mediaType = 'image/png' }: Picture): JsonObject {
  return { inlineData: { mimeType: mediaType, data } };
}
