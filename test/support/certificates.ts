// Certificates for tests, made with openssl when they are asked for: a private authority, and what it signed. Where there
// is no openssl, there are none.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificates {
  /** Path of a file: `ca.pem`, `ca.key`, `<name>.pem`, `<name>.key`. */
  path(file: string): string;
  /** Its text. */
  read(file: string): string;
  remove(): void;
}

/** An authority called `ca`, another one called `stranger`, and a certificate by `ca` for each name; null without openssl. */
export function makeCertificates(names: readonly string[]): Certificates | null {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-certificates-'));
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const certificates: Certificates = {
    path: (file) => join(folder, file),
    read: (file) => readFileSync(join(folder, file), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  const self = (name: string): void =>
    openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`);
  try {
    self('ca');
    self('stranger');
    for (const name of names) {
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      writeFileSync(join(folder, 'names'), `subjectAltName=DNS:${name}`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
      openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`, '-extfile', 'names');
    }
    return certificates;
  } catch {
    certificates.remove();
    return null;
  }
}
