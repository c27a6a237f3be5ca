// Network settings of every outgoing connection without a network route of its own: proxies of the environment, their
// exceptions, and authorities that are trusted besides the machine's. Knows no sockets and no files.
import { isAddress, isInRange, isLinkLocalOrLoopback } from './address-ranges.ts';
import { digestOf, parseProxy, type Proxy, type NetworkRoute } from './network-route.ts';

export interface Network {
  /** The same for networks that are the same. */
  readonly id: string;
  /** By the scheme of what is asked for. */
  readonly proxies: { readonly http: Proxy | null; readonly https: Proxy | null };
  /** Entries of `NO_PROXY`. */
  readonly except: readonly string[];
  /** PEM, besides the machine's; empty: none. */
  readonly ca: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The network as variables say: lower-case names before upper-case ones, as in curl.
 * @param variables by name
 * @param ca PEM
 * @param refuse takes the name of a variable that names no proxy, and what is wrong with it
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
      return refuse(name, error instanceof Error ? error.message : String(error));
    }
  };
  // Under CGI, HTTP_PROXY is what a client said in a header called Proxy (httpoxy, CVE-2016-5385).
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

/** No proxy, and no authorities but the machine's. */
export const PLAIN_NETWORK: Network = {
  id: '',
  proxies: { http: null, https: null },
  except: [],
  ca: [],
};

/** The proxy through which an address is asked for, on its own network route or as the environment says; null: straight. */
export function proxyOn(networkRoute: NetworkRoute | undefined, network: Network, url: URL): Proxy | null {
  return networkRoute?.proxy === undefined ? proxyFor(network, url) : networkRoute.proxy;
}

/**
 * The proxy through which the environment has an address asked for; null: straight. What is on this machine or its own
 * link is never asked for through one, for there the address would mean another machine: loopback (as in Go's
 * `http.ProxyFromEnvironment`), and the metadata services of clouds.
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
 * Whether an entry of `NO_PROXY` means a host: `*` is all, `example.com`, `.example.com` and `*.example.com` a domain and
 * those below it, an address or a range of addresses (CIDR) itself, each with `:port` only there.
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
