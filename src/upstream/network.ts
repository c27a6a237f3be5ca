// Network settings of outgoing connections without their own route: proxies from the environment, their exceptions, and
// additional trusted authorities.
import { isAddress, isInRange, isLinkLocalOrLoopback } from './address-ranges.ts';
import { digestOf, parseProxy, type Proxy, type NetworkRoute } from './network-route.ts';
import { errorText } from '../base/lib/errors.ts';

export interface Network {
  /** Equal for equal settings. */
  readonly id: string;
  /** By the scheme of the requested address. */
  readonly proxies: { readonly http: Proxy | null; readonly https: Proxy | null };
  /** Entries of `NO_PROXY`. */
  readonly except: readonly string[];
  /** PEM, in addition to the system's. Empty: none. */
  readonly ca: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from environment variables; lower-case names take precedence, as in curl.
 * @param variables by name
 * @param ca PEM
 * @param refuse called with the name of a variable with an invalid proxy, and the problem
 */
export function readNetwork(
  variables: Variables,
  ca: readonly string[],
  refuse: (variable: string, problem: string) => never,
): Network {
  const proxyIn = (...names: readonly string[]): Proxy | null => {
    const name = names.find((one) => variables[one] !== undefined);
    const text = name === undefined ? '' : (variables[name] ?? '').trim();
    if (name === undefined || text === '') return null;
    try {
      return parseProxy(text);
    } catch (error) {
      return refuse(name, errorText(error));
    }
  };
  // Under CGI, HTTP_PROXY contains a client's Proxy header (httpoxy, CVE-2016-5385).
  const isCgi = variables['REQUEST_METHOD'] !== undefined;
  const proxies = {
    http: isCgi ? proxyIn('http_proxy') : proxyIn('http_proxy', 'HTTP_PROXY'),
    https: proxyIn('https_proxy', 'HTTPS_PROXY'),
  };
  const exceptions = variables['no_proxy'] ?? variables['NO_PROXY'] ?? '';
  const except = exceptions
    .split(/[\s,]+/)
    .map((entry) => entry.toLowerCase())
    .filter(Boolean);
  const id = proxies.http || proxies.https || ca.length > 0 ? digestOf([keyOf(proxies), except, ca]) : '';
  return { id, proxies, except, ca };
}

function keyOf({ http, https }: Network['proxies']): unknown {
  return [http, https].map((proxy) => proxy && [proxy.address, proxy.authorization?.reveal()]);
}

/** No proxies and no additional authorities. */
export const PLAIN_NETWORK: Network = {
  id: '',
  proxies: { http: null, https: null },
  except: [],
  ca: [],
};

/** The proxy for an address, from its route or the environment. Null: direct. */
export function proxyOn(networkRoute: NetworkRoute | undefined, network: Network, url: URL): Proxy | null {
  return networkRoute?.proxy === undefined ? proxyFor(network, url) : networkRoute.proxy;
}

/**
 * The environment's proxy for an address. Null: direct. Loopback (as in Go's `http.ProxyFromEnvironment`) and
 * link-local addresses such as cloud metadata are never proxied, because there they would refer to another machine.
 */
export function proxyFor({ proxies, except }: Network, url: URL): Proxy | null {
  const proxy = url.protocol === 'https:' ? proxies.https : proxies.http;
  if (!proxy) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isOwn = isAddress(host) ? isLinkLocalOrLoopback(host) : /(?:^|\.)localhost$/.test(host);
  if (isOwn) return null;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return except.some((entry) => isMeant(entry, host, port)) ? null : proxy;
}

/**
 * True when a `NO_PROXY` entry matches a host: `*` all, `example.com`, `.example.com` and `*.example.com` a domain and
 * its subdomains, an IP address or CIDR range itself; `:port` restricts an entry to that port.
 */
function isMeant(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (isAddress(entry) || entry.includes('/')) return isInRange(host, entry);
  const [, name = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  if (isAddress(bare)) return isInRange(host, bare);
  const domain = bare.replace(/^\*?\./, '').replace(/\.$/, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}
