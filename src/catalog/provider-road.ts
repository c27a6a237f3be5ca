// How a configured provider is reached: its own proxy, the authorities that it is checked by, and the certificate that it
// is shown. Everything wrong is found when the configuration is loaded. Knows nothing of models.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Secret } from '../telemetry/secret.ts';
import { holdsCertificates, makeRoad, parseProxy, type Proxy, type Road } from '../upstream/road.ts';
import type { ProviderConfig, Refuse } from './catalog-config.ts';
import type { Surroundings } from './provider-place.ts';

/** An operator writes this where a proxy is not to be used. */
const NO_PROXY = 'none';

type Given = Pick<ProviderConfig, 'proxy' | 'tls'>;

/** The road; undefined where the operator says nothing of it. @param path of the provider in the configuration */
export function roadOf(
  { proxy, tls }: Given,
  path: string,
  surroundings: Surroundings,
  refuse: Refuse,
): Road | undefined {
  const address = proxy?.reveal() ?? '';
  if (address === '' && !tls) return undefined;
  return makeRoad({
    proxy: address === '' ? undefined : proxyOf(address, `${path}.proxy`, refuse),
    ca: tls?.ca === undefined ? undefined : authorities(tls.ca, `${path}.tls.ca`, surroundings, refuse),
    certificate: certificateOf(tls, `${path}.tls`, surroundings, refuse),
  });
}

function proxyOf(address: string, path: string, refuse: Refuse): Proxy | null {
  if (address === NO_PROXY) return null;
  try {
    return parseProxy(address);
  } catch (error) {
    return refuse(path, error instanceof Error ? error.message : String(error));
  }
}

function authorities(given: string, path: string, surroundings: Surroundings, refuse: Refuse): string {
  const text = textOf(given, path, surroundings, refuse);
  if (!holdsCertificates(text)) refuse(path, 'must hold certificates in PEM');
  return text;
}

function certificateOf(
  tls: Given['tls'],
  path: string,
  surroundings: Surroundings,
  refuse: Refuse,
): Road['certificate'] {
  if (tls?.cert === undefined && tls?.key === undefined) return undefined;
  if (tls.cert === undefined) return refuse(`${path}.cert`, 'missing: the key stands for a certificate');
  if (tls.key === undefined) return refuse(`${path}.key`, 'missing: it proves whose the certificate is');
  const cert = textOf(tls.cert, `${path}.cert`, surroundings, refuse);
  const key = textOf(tls.key.reveal(), `${path}.key`, surroundings, refuse);
  if (!holdsCertificates(cert)) refuse(`${path}.cert`, 'must hold certificates in PEM');
  const first = new X509Certificate(cert);
  if (!first.checkPrivateKey(privateKey(key, `${path}.key`, refuse)))
    refuse(`${path}.key`, 'is not the key of the certificate');
  return { cert, key: new Secret(key) };
}

function privateKey(text: string, path: string, refuse: Refuse): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // What the runtime says of it may repeat it.
    return refuse(path, 'must hold a private key in PEM, without a passphrase');
  }
}

/** A path, or the text itself. */
function textOf(given: string, path: string, { readFile }: Surroundings, refuse: Refuse): string {
  if (given.includes('-----BEGIN ')) return given;
  try {
    return readFile(given);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    return refuse(path, `cannot be read: ${typeof code === 'string' ? code : 'no such file'}`);
  }
}
