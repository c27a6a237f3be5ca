// Resolves a URL to connection target, proxy and request line.
import type { Security, SocketTarget } from '../base/runtime/socket.ts';
import { proxyOn, type Network } from './network.ts';
import type { Proxy, NetworkRoute } from './network-route.ts';
import { type TunnelProxy, proxyTarget } from './tunnel.ts';

export interface Address {
  /** Equal for interchangeable connections. */
  readonly origin: string;
  readonly target: SocketTarget;
  /** Proxy through which the connection is tunnelled. */
  readonly tunnel: TunnelProxy | undefined;
  /** Proxy that receives whole requests at the other end of the connection. */
  readonly forwarder: Proxy | undefined;
  /** Request line, and headers that the proxy requires. */
  readonly start: string;
}

/** The requested host and port. */
export interface RequestTarget {
  readonly url: string;
  readonly method: string;
  /** IP address to connect to. Undefined: the host name is resolved. */
  readonly address?: string | undefined;
  readonly networkRoute?: NetworkRoute | undefined;
}

/** @throws TypeError for an invalid URL */
export function addressOf(asked: RequestTarget, network: Network): Address {
  const { method, address, networkRoute } = asked;
  const url = new URL(asked.url);
  const tls = url.protocol === 'https:';
  const proxy = proxyOn(networkRoute, network, url);
  const common: Security | undefined = network.ca.length > 0 ? { ca: network.ca } : undefined;
  const security = tls && networkRoute ? ownSecurity(networkRoute, common) : common;
  const target: SocketTarget = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    tls,
    address,
    security,
  };
  const path = url.pathname + url.search;
  const host = `host: ${url.host}\r\n`;
  const start = `${method} ${path} HTTP/1.1\r\n${host}`;
  // Connections to a given IP address are separate from those to the resolved host.
  const origin = [url.origin, address, network.id, networkRoute?.id].filter(Boolean).join(' ');
  if (!proxy) return { origin, target, tunnel: undefined, forwarder: undefined, start };
  const tunnel: TunnelProxy = { proxy, security: proxy.tls ? common : undefined };
  // A forwarding proxy resolves names itself, which would bypass the address that was checked.
  if (tls || address !== undefined) return { origin, target, tunnel, forwarder: undefined, start };
  const proof = proxy.authorization;
  return {
    origin: `${origin} forwarded`,
    target: proxyTarget(tunnel),
    tunnel: undefined,
    forwarder: proxy,
    start:
      `${method} http://${url.host}${path} HTTP/1.1\r\n${host}` +
      (proof ? `proxy-authorization: ${proof.reveal()}\r\n` : ''),
  };
}

function ownSecurity({ ca, certificate }: NetworkRoute, common: Security | undefined): Security {
  const trust = ca === undefined ? common : { ca: [ca], trustsOnlyThese: true };
  return { ...trust, ...(certificate && { cert: certificate.cert, key: certificate.key.reveal() }) };
}
