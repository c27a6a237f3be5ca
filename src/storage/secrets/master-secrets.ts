// Master secrets, which hash keys and seal reasoning: the current one of an installation, and earlier ones. The
// database stores their fingerprints, so that a start with a wrong secret fails instead of not finding any key.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import { namedSecret } from './secret-file.ts';
import { type Queries, rowsOf } from '../tables/database.ts';
import { addSetting } from '../tables/installation/settings.ts';

/** Setting of the first fingerprint. Names of further settings contain the fingerprint itself. */
const FIRST = 'secret_fingerprint';

/**
 * Checks the secrets and stores the fingerprint of the newest.
 * @param masters newest first
 * @param place source of the secrets, for the error
 * @throws GatewayError `internal` if the database was used only with other secrets
 */
export function* checkSecrets(masters: readonly Uint8Array[], place: string): Queries<void> {
  const rows = yield* rowsOf(sql<{ value: string }>`
    select value from settings where name = ${FIRST} or name like ${`${FIRST}:%`}`);
  const known = new Set(rows.map(({ value }) => value));
  const fingerprints = masters.map(fingerprintOf);
  const [newest] = fingerprints;
  if (newest === undefined || known.has(newest)) return;
  if (known.size > 0 && !fingerprints.some((fingerprint) => known.has(fingerprint))) {
    throw new GatewayError(
      'internal',
      `${place} does not match this database, so that no stored key would be valid. Restore the previous secret, or add it to earlier_secrets.`,
    );
  }
  yield* addSetting(known.size === 0 ? FIRST : `${FIRST}:${newest}`, newest);
  // Two processes may have started at the same time with different secrets. Then one of them fails here.
  if (known.size === 0) yield* checkSecrets(masters, place);
}

/** Derives named secrets. @param masters returns the master secrets, newest first */
export function secretsFrom(
  masters: () => Promise<readonly Uint8Array[]>,
): Pick<Storage, 'secret' | 'earlierSecrets'> {
  return {
    async secret(name) {
      const [newest] = await masters();
      if (!newest) throw new GatewayError('internal', 'This installation has no secret.');
      return namedSecret(newest, name);
    },
    earlierSecrets: async (name) => (await masters()).slice(1).map((master) => namedSecret(master, name)),
  };
}

function fingerprintOf(master: Uint8Array): string {
  return createHash('sha256').update('dragoman fingerprint').update(master).digest('hex').slice(0, 16);
}
