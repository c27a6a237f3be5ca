// Decodes the source of an image or a file in OpenAI's protocols: a URL or a data URL.
import type { Media, Problems } from '../../canonical/index.ts';

/**
 * Decodes an http(s) URL or a base64 data URL (RFC 2397).
 * @returns null if it is neither; undefined for an invalid one, which is a problem
 */
export function decodeAddress(text: string, path: string, problems: Problems): Media | null | undefined {
  const start = text.slice(0, 8).toLowerCase();
  if (start.startsWith('http://') || start === 'https://') {
    if (URL.canParse(text)) return { kind: 'url', url: text };
    problems.add(path, 'is not a valid URL');
    return undefined;
  }
  if (!start.startsWith('data:')) return null;
  const comma = text.indexOf(',');
  const [mediaType = '', ...parameters] = text.slice(5, Math.max(comma, 5)).split(';');
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === 'base64';
  if (comma < 0 || comma === text.length - 1 || !isBase64) {
    problems.add(path, 'must be a data URL of the form data:<media type>;base64,<data>');
    return undefined;
  }
  return { kind: 'base64', data: text.slice(comma + 1), mediaType: mediaType || undefined };
}
