// How a place is reached: through which proxy, whom TLS trusts, and which certificate it shows. Plain data, made when
// the configuration is loaded. Knows no sockets and no files.
import { createHash } from 'node:crypto';
import { Secret } from '../base/telemetry/secret.ts';

/** An HTTP proxy. */
export interface Proxy {
  /** `scheme://host:port`: holds no secret. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  /** True: it is spoken to by TLS itself. */
  readonly tls: boolean;
  /** Value of `proxy-authorization`; null: it wants none. */
  readonly authorization: Secret | null;
  /** Secrets in it. */
  readonly secrets: readonly Secret[];
}

/** Network settings of one provider. */
export interface NetworkRoute {
  /** The same for network routes that are the same; secrets are in it only as a digest. */
  readonly id: string;
  /** Null: straight. Undefined: as the environment says. */
  readonly proxy: Proxy | null | undefined;
  /** PEM; the only authorities that are trusted. Absent: those that everybody trusts. */
  readonly ca?: string | undefined;
  /** Shown to a server that asks for a certificate. PEM. */
  readonly certificate?: { readonly cert: string; readonly key: Secret } | undefined;
}

/** A network route without its id. */
export function makeNetworkRoute(given: Omit<NetworkRoute, 'id'>): NetworkRoute {
  const { proxy, ca, certificate } = given;
  const parts = [
    proxy && [proxy.address, proxy.authorization?.reveal()],
    ca,
    certificate && [certificate.cert, certificate.key.reveal()],
  ];
  return { ...given, id: digestOf(parts) };
}

/** Past every proxy. */
export const STRAIGHT: NetworkRoute = makeNetworkRoute({ proxy: null });

/** A short name for something, from which it cannot be told. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, 32);
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * Reads the address of a proxy; one without a scheme is an http address, as curl reads it.
 * @throws TypeError whose message says what is wrong, follows the name of a key, and repeats no part of the address
 */
export function parseProxy(text: string): Proxy {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? 'http';
  if (scheme !== 'http' && scheme !== 'https')
    throw new TypeError(`is the address of a ${scheme} proxy; only http and https proxies can be used`);
  const whole = SCHEME.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole)) throw new TypeError('is not the address of a proxy, e.g. http://proxy:3128');
  const url = new URL(whole);
  if (url.hostname === '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new TypeError(
      'is not the address of a proxy: it must be a host and a port, and nothing behind them',
    );
  const tls = scheme === 'https';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  const user = decoded(url.username);
  const password = decoded(url.password);
  // A colon would end the name where the proxy reads it (RFC 7617 section 2).
  if (user.includes(':')) throw new TypeError('has a user name with a colon, which no proxy can be told');
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

/** The decoded part; one that is no percent-encoding is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
