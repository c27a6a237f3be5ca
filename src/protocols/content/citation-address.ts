// Makes cited source addresses valid URIs, because strict clients reject others.

/** Characters that are illegal in a URI (RFC 3986, appendix A), and percent signs that do not begin an escape. */
const FOREIGN = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\dA-Fa-f]{2})/gu;
/** Scheme and authority. Brackets are legal only there, around an IPv6 address. */
const BEFORE_PATH = /^[A-Za-z][\w+.-]*:\/\/[^/?#]*/;
const BRACKETS = /[[\]]/g;
const utf8 = new TextEncoder();

/**
 * Returns the address as a URI: illegal characters are percent-encoded, everything else is unchanged. Search results
 * and documents are often cited with spaces, quotes and non-ASCII letters.
 */
export function citationUri(address: string): string {
  const uri = address.replace(FOREIGN, percentEncoded);
  if (!uri.includes('[')) return uri.includes(']') ? uri.replace(BRACKETS, percentEncoded) : uri;
  const head = BEFORE_PATH.exec(uri)?.[0] ?? '';
  return head + uri.slice(head.length).replace(BRACKETS, percentEncoded);
}

function percentEncoded(character: string): string {
  let out = '';
  for (const byte of utf8.encode(character)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}
