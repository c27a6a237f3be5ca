// Decides whether an address from a request may be fetched, and which IP addresses to connect to. Used for images,
// files, MCP servers and web pages. Checks every IP address of the name; sends nothing.
import { GatewayError } from '../canonical/index.ts';
import { isAddress, isPublicAddress } from './address-ranges.ts';

export interface GuardOptions {
  /** `host` or `host:port` that the operator allows (`fetch.allow`). Read each time, because a reload may change it. */
  readonly allow: () => readonly string[];
  /** Resolves a name to all its addresses. Rejects when there are none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
}

export interface Guarded {
  /** The URL, with its host without a trailing dot. */
  readonly url: URL;
  /** Checked IP addresses. Connections must use one of these, because the name may resolve differently later. */
  readonly addresses: readonly string[];
}

/**
 * Checks one address. The same message refuses every non-public name, whether or not it exists, so that names of a
 * private network are not revealed.
 * @param text absolute URL
 * @throws GatewayError `invalid_request`, code `url_not_allowed`
 */
export async function guardUrl(text: string, { allow, resolve }: GuardOptions): Promise<Guarded> {
  if (!URL.canParse(text)) throw refused('it is not a valid URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refused('only http and https URLs can be fetched');
  if (url.username !== '' || url.password !== '')
    throw refused('it must not contain a user name or password');
  const host = hostOf(url.hostname);
  if (host === '' || host.length > 253) throw refused('it has no host');
  if (url.hostname.endsWith('.')) url.hostname = host;
  // The URL parser has normalised every spelling of an IPv4 address.
  const addresses = isAddress(host) ? [host] : await resolve(host).catch(() => []);
  const isExempt = namesHost(allow(), url);
  if (addresses.length === 0 || !(isExempt || addresses.every(isPublicAddress)))
    throw refused(
      'its host does not resolve, or does not resolve only to public addresses; the operator can allow it with fetch.allow',
    );
  return { url, addresses };
}

/** True when one of the entries, each `host` or `host:port`, matches the host of this address. */
export function namesHost(entries: readonly string[], url: URL): boolean {
  const port = portOf(url);
  return entries.some((entry) => {
    const [, name = '', onlyPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.trim()) ?? [];
    // Parsed in the same way, so that both are normalised.
    const isSame =
      URL.canParse(`http://${name}`) && hostOf(new URL(`http://${name}`).hostname) === hostOf(url.hostname);
    return isSame && (onlyPort === undefined || onlyPort === port);
  });
}

/** `host:port` of an absolute http or https address, in the form of `allow`, with the default port if none is given. */
export function hostAndPort(address: string): string {
  const url = new URL(address);
  return `${url.hostname}:${portOf(url)}`;
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}

function refused(reason: string): GatewayError {
  return new GatewayError('invalid_request', `This URL may not be fetched: ${reason}.`, {
    code: 'url_not_allowed',
  });
}
