// The certificate that the gateway shows to its clients, and its key: read from their files and checked as a pair before
// anything is done with them. Knows nothing of sockets, and keeps nothing.
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface CertificatePair {
  /** PEM texts. The certificate comes with those between it and its authority. */
  readonly cert: string;
  readonly key: string;
  /** What somebody should look at, though the pair can be used. */
  readonly warnings: readonly string[];
}

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
/** Everybody may do anything with it, or its group may change it. A group that may read it is common (`ssl-cert`). */
const TOO_OPEN = 0o027;

/**
 * Reads and checks a pair.
 * @param nowMs Unix milliseconds
 * @throws ConfigError that names the key whose file cannot be used
 */
export function readCertificate({ cert, key }: CertificateFiles, nowMs: number): CertificatePair {
  const certText = readNamed(CERT, cert);
  const keyText = readNamed(KEY, key);
  const first = readChain(certText, cert);
  if (!first.checkPrivateKey(readKey(keyText, key)))
    throw new ConfigError(KEY, `${key} is not the key of the first certificate in ${cert}`);
  const warnings: string[] = [];
  const mode = statSync(key).mode & 0o777;
  if ((mode & TOO_OPEN) !== 0) {
    const octal = mode.toString(8).padStart(4, '0');
    warnings.push(`${KEY}: ${key} is open to other users (mode ${octal}), who can pose as this server`);
  }
  if (Date.parse(first.validTo) < nowMs)
    warnings.push(`${CERT}: ${cert} has expired (${first.validTo}); clients will refuse it`);
  if (Date.parse(first.validFrom) > nowMs)
    warnings.push(`${CERT}: ${cert} is not valid before ${first.validFrom}; clients will refuse it`);
  return { cert: certText, key: keyText, warnings };
}

/** The first certificate of a file, all of which must be readable. */
function readChain(text: string, path: string): X509Certificate {
  const chain = (text.match(PEM_CERTIFICATE) ?? []).map((pem, at) => {
    try {
      return new X509Certificate(pem);
    } catch {
      throw new ConfigError(CERT, `certificate ${at + 1} in ${path} cannot be read`);
    }
  });
  const [first] = chain;
  if (!first) throw new ConfigError(CERT, `${path} holds no certificate (PEM)`);
  return first;
}

function readKey(text: string, path: string): KeyObject {
  if (/-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text))
    throw new ConfigError(KEY, `${path} is locked with a passphrase; the gateway has nobody to ask for it`);
  try {
    return createPrivateKey(text);
  } catch {
    throw new ConfigError(KEY, `${path} holds no private key (PEM)`);
  }
}

function readNamed(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(
      name,
      `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
