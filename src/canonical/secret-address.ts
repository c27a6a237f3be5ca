// Which parts of an address may be keys: services put them into paths and queries, clients into the user's place. What is
// hidden of them, and where, is not its business.

/** Text in the place of a secret. */
export const REDACTED = '<redacted>';
/** Parts of a path from this length on may be keys. */
const LONG_PART = 20;

/**
 * Parts of an address that may be secret, as they stand there and decoded; empty for a text that is no address. Values of the
 * query (a name without a value is one itself), name and password of a user, long parts of the path.
 */
export function secretsOfAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, pathname, search } = new URL(address);
  const values = queryOf(search).map(([name, value]) => value || name);
  const parts = [username, password, ...pathname.split('/').filter(isLong), ...values];
  return [...new Set(parts.flatMap((part) => [part, decoded(part)]))].filter((part) => part !== '');
}

/** The address with a mask in the place of each secret; the same text when there is none. */
export function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return REDACTED;
  const { protocol, username, password, host, pathname, search, hash } = new URL(address);
  if (secretsOfAddress(address).length === 0 && hash === '') return address;
  const user = username || password ? `${REDACTED}@` : '';
  const path = pathname.split('/').map((part) => (isLong(part) ? REDACTED : part));
  const query = queryOf(search).map(([name, value]) => (value ? `${name}=${REDACTED}` : REDACTED));
  const slashes = host === '' ? '' : '//';
  return `${protocol}${slashes}${user}${host}${path.join('/')}${query.length > 0 ? '?' : ''}${query.join('&')}`;
}

function isLong(part: string): boolean {
  return part.length >= LONG_PART;
}

/** Names and values as they stand in the address. */
function queryOf(search: string): readonly (readonly [string, string])[] {
  const pairs = search.slice(1).split('&');
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name, value.join('=')] as const;
    });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
