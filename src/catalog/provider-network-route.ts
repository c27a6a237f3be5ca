// Network route of a configured provider: proxy, trusted certificate authorities, client certificate. Validated when
// the configuration is loaded.
import { Secret } from '../base/telemetry/secret.ts';
import { TEXTS } from '../canonical/index.ts';
import { holdsCertificates, PemError, readPair } from '../upstream/pem.ts';
import { makeNetworkRoute, parseProxy, type Proxy, type NetworkRoute } from '../upstream/network-route.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';
import type { HostAccess } from './provider-address.ts';
import { errorText } from '../base/lib/errors.ts';

/** Configured to disable the proxy. */
const NO_PROXY = 'none';

const NO_KEY = 'must contain an unencrypted private key in PEM format';
const WRONG_KEYS = {
  absent: NO_KEY,
  locked: NO_KEY,
  'of another': 'does not match the certificate',
} as const;

type Given = Pick<ProviderConfig, 'proxy' | 'tls'>;

/** The network route; undefined: none configured. @param path path of the provider in the configuration */
export function networkRouteOf(
  { proxy, tls }: Given,
  path: string,
  hostAccess: HostAccess,
  refuse: Refuse,
): NetworkRoute | undefined {
  const address = proxy?.reveal() ?? '';
  if (address === '' && !tls) return undefined;
  return makeNetworkRoute({
    proxy: address === '' ? undefined : proxyOf(address, `${path}.proxy`, refuse),
    ca: tls?.ca === undefined ? undefined : authorities(tls.ca, `${path}.tls.ca`, hostAccess, refuse),
    certificate: certificateOf(tls, `${path}.tls`, hostAccess, refuse),
  });
}

function proxyOf(address: string, path: string, refuse: Refuse): Proxy | null {
  if (address === NO_PROXY) return null;
  try {
    return parseProxy(address);
  } catch (error) {
    return refuse(path, errorText(error));
  }
}

function authorities(given: string, path: string, hostAccess: HostAccess, refuse: Refuse): string {
  const text = textOf(given, path, hostAccess, refuse);
  if (!holdsCertificates(text)) refuse(path, TEXTS.mustBeCertificates);
  return text;
}

function certificateOf(
  tls: Given['tls'],
  path: string,
  hostAccess: HostAccess,
  refuse: Refuse,
): NetworkRoute['certificate'] {
  if (tls?.cert === undefined && tls?.key === undefined) return undefined;
  if (tls.cert === undefined) return refuse(`${path}.cert`, 'missing: a key requires its certificate');
  if (tls.key === undefined) return refuse(`${path}.key`, 'missing: a certificate requires its key');
  const cert = textOf(tls.cert, `${path}.cert`, hostAccess, refuse);
  const key = textOf(tls.key.reveal(), `${path}.key`, hostAccess, refuse);
  try {
    readPair(cert, key);
  } catch (error) {
    if (!(error instanceof PemError)) throw error;
    const { of, reason } = error.fault;
    refuse(`${path}.${of}`, of === 'cert' ? TEXTS.mustBeCertificates : WRONG_KEYS[reason]);
  }
  return { cert, key: new Secret(key) };
}

/** Text of a file, given as a path or as the text itself. */
function textOf(given: string, path: string, { readNamed }: HostAccess, refuse: Refuse): string {
  if (given.includes('-----BEGIN ')) return given;
  try {
    return readNamed(given);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    return refuse(path, `cannot be read: ${typeof code === 'string' ? code : String(message)}`);
  }
}
