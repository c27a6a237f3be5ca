// Certificates and private keys as PEM texts: read, and checked as a pair. Knows neither files nor settings, and says
// nothing of what a text holds.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

/** Fault of a text, or of two of them together. */
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

/** Whether a text holds certificates, one at least, all of which can be read. */
export function holdsCertificates(text: string): boolean {
  try {
    readChain(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads a certificate, with those between it and its authority behind it, and its key.
 * @returns the certificate
 * @throws PemError
 */
export function readPair(cert: string, key: string): X509Certificate {
  const first = readChain(cert);
  if (!first.checkPrivateKey(readKey(key))) throw new PemError({ of: 'key', reason: 'of another' });
  return first;
}

/** The first certificate of a text, all of which must be readable. */
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
    // The runtime's message may repeat the key.
    throw new PemError({ of: 'key', reason: 'absent' });
  }
}
