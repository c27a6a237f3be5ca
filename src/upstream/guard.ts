// Whether an address that arrived in a request may be fetched, and where a connection to it must go: images, files, MCP
// servers, web pages. Looks at every address of the name; sends nothing itself.
import { GatewayError } from '../canonical/index.ts';
import { isAddress, isPublicAddress } from './address-ranges.ts';

export interface GuardOptions {
  /** `host` or `host:port` that the operator exempts (`fetch.allow`); asked each time, since a reload may change it. */
  readonly allow: () => readonly string[];
  /** Every address of a name. Rejects when there is none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
}

export interface Guarded {
  /** The address, its host without a dot at the end. */
  readonly url: URL;
  /** Checked. Whoever connects must connect to one of these: the name could resolve differently the next time. */
  readonly addresses: readonly string[];
}

/**
 * Checks one address. The same words refuse every name that is not public, whether or not it exists: nobody is to
 * learn the names of a private network from them.
 * @param text absolute URL
 * @throws GatewayError `invalid_request`, code `url_not_allowed`
 */
export async function guardUrl(text: string, { allow, resolve }: GuardOptions): Promise<Guarded> {
  if (!URL.canParse(text)) throw refused('it is not a valid URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('only http and https are fetched');
  if (url.username !== '' || url.password !== '') throw refused('it must not hold a user name or password');
  const host = hostOf(url.hostname);
  if (host === '' || host.length > 253) throw refused('it names no host');
  if (url.hostname.endsWith('.')) url.hostname = host;
  // The parser of URLs has turned every spelling of an IPv4 address into the usual one.
  const addresses = isAddress(host) ? [host] : await resolve(host).catch(() => []);
  const isExempt = namesHost(allow(), url);
  if (addresses.length === 0 || !(isExempt || addresses.every(isPublicAddress)))
    throw refused(
      'its host does not resolve, or not to public addresses only; the operator can exempt it with fetch.allow',
    );
  return { url, addresses };
}

/** True when one of the entries, each `host` or `host:port`, means the host of this address. */
export function namesHost(entries: readonly string[], url: URL): boolean {
  const port = portOf(url);
  return entries.some((entry) => {
    const [, name = '', onlyPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.trim()) ?? [];
    // Through the same parser, so that both are written alike.
    const isSame =
      URL.canParse(`http://${name}`) && hostOf(new URL(`http://${name}`).hostname) === hostOf(url.hostname);
    return isSame && (onlyPort === undefined || onlyPort === port);
  });
}

/** `host:port` of an absolute http or https address, as `allow` takes it; a port that is not written is its scheme's. */
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
  return new GatewayError('invalid_request', `this address may not be fetched: ${reason}`, {
    code: 'url_not_allowed',
  });
}
