// How a configured provider is reached: its own proxy, the authorities that it is checked by, and the certificate that it
// is shown. Everything wrong is found when the configuration is loaded. Knows nothing of models.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { Secret } from '../telemetry/secret.ts';
import { isCertificate, makeRoad, parseProxy, type Proxy, type Road } from '../upstream/road.ts';
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
  if (!isCertificate(text)) refuse(path, 'holds no PEM of a certificate');
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
  const first = parsed(() => new X509Certificate(cert), `${path}.cert`, 'a certificate', refuse);
  const own = parsed(
    () => createPrivateKey(key),
    `${path}.key`,
    'a private key without a passphrase',
    refuse,
  );
  if (!first.checkPrivateKey(own)) refuse(`${path}.key`, 'is not the key of the certificate');
  return { cert, key: new Secret(key) };
}

/** What the runtime says of bad PEM may repeat it, so it is not told. */
function parsed<T>(parse: () => T, path: string, what: string, refuse: Refuse): T {
  try {
    return parse();
  } catch {
    return refuse(path, `holds no PEM of ${what}`);
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
