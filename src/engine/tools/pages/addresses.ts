// The addresses of pages that a text holds, in one spelling: a model may open what it was shown and nothing that it
// makes up. Pure; knows no tool.

/** Most addresses of one text: a longer list is no page for a person. */
const MOST_ADDRESSES = 5000;
/** Brackets belong to an address in pairs only: where they close that opened before it, as in Markdown, it ends. */
const TAIL = String.raw`(?:\([^\s<>"()[\]]*\)|\[[^\s<>"()[\]]*\]|[^\s<>"()[\]])`;
const WHOLE = new RegExp(String.raw`https?:\/\/${TAIL}+`, 'giu');
/** As people write it: `example.com/page`. */
const BARE = new RegExp(
  String.raw`(?<![\p{L}\p{N}@:/._-])[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?::\d+)?(?:[/?]${TAIL}*)?`,
  'giu',
);
/** Characters that follow an address more often than they end it. */
const PUNCTUATION = ".,;:!?'*_`|~…";

/** One spelling of an http or https address, without its fragment; undefined for anything else. */
export function canonicalAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  return url.href;
}

/** The addresses in a text, plain or Markdown, each in its one spelling. */
export function addressesIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [written] of text.matchAll(WHOLE)) {
    if (found.size >= MOST_ADDRESSES) break;
    addTo(found, written);
  }
  return found;
}

/** The same for a text of a person, who may leave out the scheme: both are meant then. */
export function addressesMeantIn(text: string): Set<string> {
  const found = addressesIn(text);
  for (const [written] of text.matchAll(BARE)) {
    if (found.size >= MOST_ADDRESSES) break;
    addTo(found, `https://${written}`);
    addTo(found, `http://${written}`);
  }
  return found;
}

/** As it is written and without the punctuation behind it: nobody can tell which one is meant. */
function addTo(found: Set<string>, written: string): void {
  let end = written.length;
  while (end > 0 && PUNCTUATION.includes(written.charAt(end - 1))) end--;
  for (const each of new Set([written, written.slice(0, end)])) {
    const address = canonicalAddress(each);
    if (address !== undefined) found.add(address);
  }
}
