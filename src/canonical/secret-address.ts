// Finds parts of a URL that may be secret. Services put keys into paths and queries, clients into the user info.

/** Replacement for a secret. */
export const REDACTED = '<redacted>';
/** Path segments of at least this length may be keys. */
const LONG_PART = 20;

/**
 * Parts of a URL that may be secret, raw and decoded: query values (or a name without a value), user name, password, and
 * long path segments. Empty for a text that is not a URL.
 */
export function secretsOfAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, pathname, search } = new URL(address);
  const values = queryOf(search).map(([name, value]) => value || name);
  const parts = [username, password, ...pathname.split('/').filter(isLong), ...values];
  return [...new Set(parts.flatMap((part) => [part, decoded(part)]))].filter((part) => part !== '');
}

/** Masks each possible secret in a URL. */
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

/** Raw names and values of a query. */
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
