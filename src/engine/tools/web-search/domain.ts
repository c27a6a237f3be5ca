// Domains that a search is limited to or kept from: how they are written in requests, and which addresses lie in them.
// Knows no engine.
import { GatewayError } from '../../../canonical/index.ts';

export interface Domain {
  /** Lower case, in ASCII. */
  readonly host: string;
  /** Beginning of the path, without the slash behind it; empty for all of it. */
  readonly path: string;
}

/**
 * Reads a domain as clients write it: `example.com`, with a path, or as a whole address.
 * @param text in Unicode or ASCII; `*.` in front is understood, since subdomains belong to every domain
 * @throws GatewayError `invalid_request` for what is no domain: engines take it as part of a query or of a rule
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

/** Whether an address is of one of these domains or their subdomains. */
export function isWithin(url: URL, domains: readonly Domain[]): boolean {
  // A dot behind the name changes nothing about where it leads.
  const hostname = url.hostname.replace(/\.+$/, '');
  return domains.some(
    ({ host, path }) =>
      (hostname === host || hostname.endsWith(`.${host}`)) &&
      (url.pathname === path || url.pathname.startsWith(`${path}/`)),
  );
}
