// Network route to an upstream: proxy, trusted certificates and client certificate. Plain data, created when the
// configuration is loaded.
import { createHash } from 'node:crypto';
import { Secret } from '../base/telemetry/secret.ts';

/** An HTTP proxy. */
export interface Proxy {
  /** `scheme://host:port`, without secrets. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  /** True: the proxy itself is connected to over TLS. */
  readonly tls: boolean;
  /** Value of `proxy-authorization`. Null: none. */
  readonly authorization: Secret | null;
  /** Its secrets, for redaction. */
  readonly secrets: readonly Secret[];
}

/** Network settings of one provider. */
export interface NetworkRoute {
  /** Equal for equal routes. Contains secrets only as a digest. */
  readonly id: string;
  /** Null: direct. Undefined: from the environment. */
  readonly proxy: Proxy | null | undefined;
  /** PEM. Only these authorities are trusted. Absent: the default authorities. */
  readonly ca?: string | undefined;
  /** Client certificate, for servers that request one. PEM. */
  readonly certificate?: { readonly cert: string; readonly key: Secret } | undefined;
}

/** Creates a network route with its id. */
export function makeNetworkRoute(given: Omit<NetworkRoute, 'id'>): NetworkRoute {
  const { proxy, ca, certificate } = given;
  const parts = [
    proxy && [proxy.address, proxy.authorization?.reveal()],
    ca,
    certificate && [certificate.cert, certificate.key.reveal()],
  ];
  return { ...given, id: digestOf(parts) };
}

/** Direct connection without a proxy. */
export const DIRECT: NetworkRoute = makeNetworkRoute({ proxy: null });

/** Short digest of a value. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, 32);
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * Parses the address of a proxy. Without a scheme it is http, as in curl.
 * @throws TypeError whose message continues after the name of a setting and repeats no part of the address
 */
export function parseProxy(text: string): Proxy {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? 'http';
  if (scheme !== 'http' && scheme !== 'https')
    throw new TypeError(`must be the address of an http or https proxy, not of a ${scheme} proxy`);
  const whole = SCHEME.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole))
    throw new TypeError('must be the address of a proxy, for example http://proxy:3128');
  const url = new URL(whole);
  if (url.hostname === '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new TypeError('must be the address of a proxy: only a host and a port');
  const tls = scheme === 'https';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  const user = decoded(url.username);
  const password = decoded(url.password);
  // A colon would end the user name (RFC 7617 section 2).
  if (user.includes(':')) throw new TypeError('must not have a colon in the user name');
  const proof = Buffer.from(`${user}:${password}`).toString('base64');
  const hasProof = user !== '' || password !== '';
  return {
    address: `${scheme}://${url.hostname}:${port}`,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    tls,
    authorization: hasProof ? new Secret(`Basic ${proof}`) : null,
    secrets: hasProof ? [password, url.password, proof].filter(Boolean).map((one) => new Secret(one)) : [],
  };
}

/** The decoded text; unchanged if it is not valid percent-encoding. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
