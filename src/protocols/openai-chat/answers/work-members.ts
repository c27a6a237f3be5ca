// Work beside the text of an answer, as members of a message: `images` and `audio`. Owns their forms in both directions;
// knows nothing of frames.
import { asObject, asString } from '../../../base/json/index.ts';
import { Problems } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { HostedFacts, Source } from '../../../canonical/index.ts';
import { decodeAddress } from '../../openai/decode-address.ts';
import { ownRaw } from '../requests/encode-context.ts';

/** The kinds of hosted calls that are members of a message here. */
export type WorkKind = 'image' | 'audio';

/** Picture in an element of `images`, `{type, image_url: {url}}`; undefined where it does not bring the bytes themselves. */
export function readImage(raw: JsonObject): HostedFacts | undefined {
  const url = asString(asObject(raw['image_url'])['url']) ?? '';
  const media = decodeAddress(url, 'image_url.url', new Problems());
  return media?.kind === 'base64'
    ? { type: 'image', data: media.data, mediaType: media.mediaType }
    : undefined;
}

/**
 * The members that tell of work; undefined for what has no place in a message.
 * @param kind of the hosted call
 */
export function encodeWork(
  kind: string,
  source: Source | undefined,
  facts: HostedFacts | undefined,
): { readonly images: readonly JsonObject[] } | { readonly audio: JsonObject } | undefined {
  const own = ownRaw(source);
  if (own && kind === 'audio') return { audio: own };
  if (own && kind === 'image') return { images: [own] };
  if (facts?.type !== 'image') return undefined;
  const url = `data:${facts.mediaType ?? 'image/png'};base64,${facts.data}`;
  return { images: [{ type: 'image_url', image_url: { url } }] };
}
