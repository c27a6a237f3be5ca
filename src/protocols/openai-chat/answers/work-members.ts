// Converts hosted work in an answer from and to the message members `images` and `audio`.
import { asObject, asString } from '../../../base/json/index.ts';
import { Problems } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { HostedFacts, Source } from '../../../canonical/index.ts';
import { decodeAddress } from '../../openai/decode-address.ts';
import { ownRaw } from '../requests/encode-context.ts';

/** Kinds of hosted calls that are members of a message here. */
export type WorkKind = 'image' | 'audio';

/** Reads an element of `images`, `{type, image_url: {url}}`; undefined if it does not contain the bytes. */
export function readImage(raw: JsonObject): HostedFacts | undefined {
  const url = asString(asObject(raw['image_url'])['url']) ?? '';
  const media = decodeAddress(url, 'image_url.url', new Problems());
  return media?.kind === 'base64'
    ? { type: 'image', data: media.data, mediaType: media.mediaType }
    : undefined;
}

/** Returns the members for hosted work; undefined if a message cannot hold it. @param kind of the hosted call */
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
