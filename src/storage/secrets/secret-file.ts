// Master secret of the installation, in a file of 64 hexadecimal digits beside the database. So a copy of the database
// alone reveals neither keys nor sealed reasoning. Named secrets are derived from it.
import { hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { GatewayError } from '../../canonical/index.ts';
import { errorCode } from '../../base/lib/errors.ts';

const HEX = /^[0-9a-f]{64}$/;

/**
 * Reads the master secret, or creates it with mode 0600.
 * @param mayCreate false if stored data depends on an existing secret
 * @throws GatewayError `internal` if it is missing and must not be created, unreadable, or damaged
 */
export function masterSecret(path: string, mayCreate: boolean): Uint8Array {
  const present = read(path);
  if (present !== null) return present;
  if (!mayCreate) {
    throw new GatewayError(
      'internal',
      `${path} is missing, but keys in the database depend on it. Restore the file from a backup, or start with an empty data directory.`,
    );
  }
  // Written to a draft and then linked into place: another process starting at the same time sees the whole file or
  // none, and only one of the two links succeeds.
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST')
      throw new GatewayError('internal', `${path} cannot be written`, { cause: error });
  } finally {
    unlinkSync(draft);
  }
  const made = read(path);
  if (made === null) throw new GatewayError('internal', `${path} cannot be read`);
  return made;
}

/** Parses 64 hexadecimal digits. @returns null for anything else */
export function masterOf(text: string): Uint8Array | null {
  return HEX.test(text) ? new Uint8Array(Buffer.from(text, 'hex')) : null;
}

/** Derives a 32-byte secret for one purpose (HKDF-SHA-256, RFC 5869). */
export function namedSecret(master: Uint8Array, name: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, new Uint8Array(0), `dragoman ${name}`, 32));
}

function read(path: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw new GatewayError('internal', `${path} cannot be read`, { cause: error });
  }
  const master = masterOf(text);
  if (!master)
    throw new GatewayError('internal', `${path} is damaged: it must contain 64 hexadecimal digits`);
  return master;
}
