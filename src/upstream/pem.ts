// Reads certificates and private keys in PEM and checks that they match. Error messages contain nothing of the texts.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/** Problem with one text, or with both together. */
export type PemFault =
  | { readonly of: 'cert'; readonly reason: 'absent' }
  /** @property position of the certificate in the text, from 1 */
  | { readonly of: 'cert'; readonly reason: 'unreadable'; readonly position: number }
  | { readonly of: 'key'; readonly reason: 'absent' | 'locked' | 'of another' };

export class PemError extends Error {
  readonly fault: PemFault;

  constructor(fault: PemFault) {
    super(`${fault.of}: ${fault.reason}`);
    this.fault = fault;
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const LOCKED = /-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m;

/** True when a text contains at least one certificate, and all are readable. */
export function holdsCertificates(text: string): boolean {
  try {
    readChain(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads a certificate chain and its key. @returns the certificate @throws PemError */
export function readPair(cert: string, key: string): X509Certificate {
  const first = readChain(cert);
  if (!first.checkPrivateKey(readKey(key))) throw new PemError({ of: 'key', reason: 'of another' });
  return first;
}

/** The first certificate of a text. All must be readable. */
function readChain(text: string): X509Certificate {
  const [first] = (text.match(CERTIFICATE) ?? []).map((pem, index) => {
    try {
      return new X509Certificate(pem);
    } catch {
      throw new PemError({ of: 'cert', reason: 'unreadable', position: index + 1 });
    }
  });
  if (!first) throw new PemError({ of: 'cert', reason: 'absent' });
  return first;
}

function readKey(text: string): KeyObject {
  if (LOCKED.test(text)) throw new PemError({ of: 'key', reason: 'locked' });
  try {
    return createPrivateKey(text);
  } catch {
    // The runtime's message may contain the key.
    throw new PemError({ of: 'key', reason: 'absent' });
  }
}
