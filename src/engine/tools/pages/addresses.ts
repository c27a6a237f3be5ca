// Extracts and normalises addresses in texts: a model may only open pages that it was shown. Pure functions.

/** Maximum addresses extracted from one text. */
const MOST_ADDRESSES = 5000;
/** Brackets belong to an address only in pairs, so a Markdown link ends at its closing bracket. */
const TAIL = String.raw`(?:\([^\s<>"()[\]]*\)|\[[^\s<>"()[\]]*\]|[^\s<>"()[\]])`;
const WHOLE = new RegExp(String.raw`https?:\/\/${TAIL}+`, 'giu');
/** Addresses without a scheme: `example.com/page`. */
const WITHOUT_SCHEME = new RegExp(
  String.raw`(?<![\p{L}\p{N}@:/._-])[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?::\d+)?(?:[/?]${TAIL}*)?`,
  'giu',
);
/** Characters that usually follow an address rather than end it. */
const PUNCTUATION = ".,;:!?'*_`|~…";

/** Normalises an http or https address and removes its fragment. Undefined: another scheme, or invalid. */
export function canonicalAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  return url.href;
}

/** Normalised addresses in a plain or Markdown text. */
export function addressesIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [written] of text.matchAll(WHOLE)) {
    if (found.size >= MOST_ADDRESSES) break;
    addTo(found, written);
  }
  return found;
}

/** The same for text by users, who may omit the scheme; then both schemes are included. */
export function addressesMeantIn(text: string): Set<string> {
  const found = addressesIn(text);
  for (const [written] of text.matchAll(WITHOUT_SCHEME)) {
    if (found.size >= MOST_ADDRESSES) break;
    addTo(found, `https://${written}`);
    addTo(found, `http://${written}`);
  }
  return found;
}

/** Adds the address with and without trailing punctuation, because either may be meant. */
function addTo(found: Set<string>, written: string): void {
  let end = written.length;
  while (end > 0 && PUNCTUATION.includes(written.charAt(end - 1))) end--;
  for (const each of new Set([written, written.slice(0, end)])) {
    const address = canonicalAddress(each);
    if (address !== undefined) found.add(address);
  }
}
