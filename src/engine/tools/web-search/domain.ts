// Domains that restrict a search: parsing, and matching of addresses.
import { GatewayError } from '../../../canonical/index.ts';

export interface Domain {
  /** Lower case, ASCII. */
  readonly host: string;
  /** Path prefix without trailing slash. Empty: the whole domain. */
  readonly path: string;
}

/**
 * Parses a domain as clients write it: `example.com`, with a path, or as a whole address.
 * @param text in Unicode or ASCII; a leading `*.` is accepted, because subdomains are always included
 * @throws GatewayError `invalid_request` for an invalid domain, which engines would take as part of a query or rule
 */
export function decodeDomain(text: string): Domain {
  const bare = text.trim().replace(/^https?:\/\//i, '');
  const address = `http://${bare.replace(/^\*\./, '')}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const host = url?.hostname.replace(/\.$/, '') ?? '';
  if (!url || url.username !== '' || !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host))
    throw new GatewayError('invalid_request', `"${text.slice(0, 100)}" is not a domain to search in`, {
      code: 'invalid_domain',
    });
  return { host, path: url.pathname.replace(/\/+$/, '') };
}

/** True when an address belongs to one of these domains or their subdomains. */
export function isWithin(url: URL, domains: readonly Domain[]): boolean {
  // A trailing dot does not change the host.
  const hostname = url.hostname.replace(/\.+$/, '');
  return domains.some(
    ({ host, path }) =>
      (hostname === host || hostname.endsWith(`.${host}`)) &&
      (url.pathname === path || url.pathname.startsWith(`${path}/`)),
  );
}
