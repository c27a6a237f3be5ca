// Admin authentication of this process: admin keys, commands on this machine, and the operator's console.
import { randomBytes } from 'node:crypto';
import { adminSignIn, type AdminSignIn, type KeyIndex } from '../../../accounts/auth/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { UnixMs } from '../../../base/units.ts';

export interface Admin {
  readonly authenticateAdmin: AdminSignIn;
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Token of the console for requests within this process. */
  readonly inProcess: string;
}

/**
 * @param origin `http://host:port` at which this process listens
 */
export async function openAdmin(
  storage: Pick<Storage, 'secret'>,
  keys: KeyIndex,
  origin: () => string,
  now: () => UnixMs,
): Promise<Admin> {
  const operatorSecret = await storage.secret('operator');
  const inProcess = randomBytes(32).toString('base64url');
  const authenticateAdmin = adminSignIn({ keys, operatorSecret, inProcess, origin, now });
  return { authenticateAdmin, operatorSecret, inProcess };
}
