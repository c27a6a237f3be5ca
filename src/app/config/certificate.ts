// The gateway's server certificate and key: read from their files and checked as a pair.
import { TEXTS } from '../../canonical/index.ts';
import type { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { PemError, readPair, type PemFault } from '../../upstream/pem.ts';
import { ConfigError } from './config-error.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface CertificatePair {
  /** PEM. The certificate is followed by its intermediate certificates. */
  readonly cert: string;
  readonly key: string;
  /** Problems that do not prevent the use of the pair. */
  readonly warnings: readonly string[];
}

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
/** Any access by others, or write access by the group. Read access by a group is common (`ssl-cert`). */
const TOO_OPEN = 0o027;

/** Reads and checks a pair. @throws ConfigError naming the key whose file cannot be used */
export function readCertificate({ cert, key }: CertificateFiles, nowMs: UnixMs): CertificatePair {
  const certText = readNamed(CERT, cert);
  const keyText = readNamed(KEY, key);
  const first = firstOf(certText, keyText, { cert, key });
  const warnings: string[] = [];
  const mode = statSync(key).mode & 0o777;
  if ((mode & TOO_OPEN) !== 0) {
    const octal = mode.toString(8).padStart(4, '0');
    warnings.push(
      `${KEY}: ${key} is accessible to other users (mode ${octal}), who could impersonate this server; run chmod 600`,
    );
  }
  if (Date.parse(first.validTo) < nowMs)
    warnings.push(`${CERT}: ${cert} has expired (${first.validTo}); clients will reject it`);
  if (Date.parse(first.validFrom) > nowMs)
    warnings.push(`${CERT}: ${cert} is not valid before ${first.validFrom}; clients will reject it`);
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
      ? `${cert} contains no certificate in PEM format`
      : `certificate ${fault.position} in ${cert} cannot be read`;
  switch (fault.reason) {
    case 'absent':
      return `${key} contains no private key in PEM format`;
    case 'locked':
      return `${key} is encrypted with a passphrase; use a key without one`;
    case 'of another':
      return `${key} does not match the first certificate in ${cert}`;
  }
}

function readNamed(name: string, path: string): string {
  try {
    return readConfiguredFile(path);
  } catch (error) {
    throw new ConfigError(name, TEXTS.cannotRead(path, errorText(error)));
  }
}
