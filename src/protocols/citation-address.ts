// Addresses that answers name as their sources, as the URIs that strict clients demand. Knows no protocol's forms.

/** Characters that no URI has (RFC 3986, appendix A), and a percent sign that escapes nothing. */
const FOREIGN = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\dA-Fa-f]{2})/gu;
/** Brackets stand around an IPv6 address in the authority, and nowhere else. */
const BEFORE_PATH = /^[A-Za-z][\w+.-]*:\/\/[^/?#]*/;
const BRACKETS = /[[\]]/g;
const utf8 = new TextEncoder();

/**
 * The address as a URI: what no URI has is percent-encoded, all else stays as it is. Search results and retrieved
 * documents are cited under addresses with spaces, quotes and letters of every language.
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
