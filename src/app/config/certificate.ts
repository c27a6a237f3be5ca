// The certificate that the gateway shows to its clients, and its key: read from their files and checked as a pair before
// anything is done with them. Knows nothing of sockets, and keeps nothing.
import { TEXTS } from '../../canonical/index.ts';
import type { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { PemError, readPair, type PemFault } from '../../upstream/pem.ts';
import { ConfigError } from './config-error.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { UnixMs } from '../../base/units.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface CertificatePair {
  /** PEM texts. The certificate comes with those between it and its authority. */
  readonly cert: string;
  readonly key: string;
  /** Warnings that somebody should read, though the pair can be used. */
  readonly warnings: readonly string[];
}

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
/** Everybody may do anything with it, or its group may change it. A group that may read it is common (`ssl-cert`). */
const TOO_OPEN = 0o027;

/**
 * Reads and checks a pair.
 * @throws ConfigError that names the key whose file cannot be used
 */
export function readCertificate({ cert, key }: CertificateFiles, nowMs: UnixMs): CertificatePair {
  const certText = readNamed(CERT, cert);
  const keyText = readNamed(KEY, key);
  const first = firstOf(certText, keyText, { cert, key });
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

function firstOf(cert: string, key: string, files: CertificateFiles): X509Certificate {
  try {
    return readPair(cert, key);
  } catch (error) {
    if (!(error instanceof PemError)) throw error;
    throw new ConfigError(error.fault.of === 'cert' ? CERT : KEY, wordsFor(error.fault, files));
  }
}

function wordsFor(fault: PemFault, { cert, key }: CertificateFiles): string {
  if (fault.of === 'cert')
    return fault.reason === 'absent'
      ? `${cert} holds no certificate (PEM)`
      : `certificate ${fault.position} in ${cert} cannot be read`;
  switch (fault.reason) {
    case 'absent':
      return `${key} holds no private key (PEM)`;
    case 'locked':
      return `${key} is locked with a passphrase; the gateway has nobody to ask for it`;
    case 'of another':
      return `${key} is not the key of the first certificate in ${cert}`;
  }
}

function readNamed(name: string, path: string): string {
  try {
    return readConfiguredFile(path);
  } catch (error) {
    throw new ConfigError(
      name,
      TEXTS.cannotRead(path, error instanceof Error ? error.message : String(error)),
    );
  }
}
