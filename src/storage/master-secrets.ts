// Master secrets, with which keys are hashed and reasoning is sealed: one of an installation, and those it had before. The
// database keeps fingerprints of them, so that nobody starts with another one and finds every key unknown.
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { Storage } from '../accounts/ports/index.ts';
import { namedSecret } from './secret-file.ts';
import type { SettingsSchema } from './tables/settings.ts';

/** Setting of the first fingerprint; each further one has itself in its name. */
const FIRST = 'secret_fingerprint';

/**
 * Remembers the newest of the secrets.
 * @param masters newest first
 * @param place names where they are from, in the error
 * @throws GatewayError `internal` when the database was used with others only
 */
export async function checkSecrets(
  db: Kysely<SettingsSchema>,
  masters: readonly Uint8Array[],
  place: string,
): Promise<void> {
  const rows = await db
    .selectFrom('settings')
    .select('value')
    .where((eb) => eb.or([eb('name', '=', FIRST), eb('name', 'like', `${FIRST}:%`)]))
    .execute();
  const known = new Set(rows.map(({ value }) => value));
  const fingerprints = masters.map(fingerprintOf);
  const [newest] = fingerprints;
  if (newest === undefined || known.has(newest)) return;
  if (known.size > 0 && !fingerprints.some((fingerprint) => known.has(fingerprint))) {
    throw new GatewayError(
      'internal',
      `${place} is not the one that this database was used with: no stored key would be recognised. Put the right one back, or name it in earlier_secrets.`,
    );
  }
  const name = known.size === 0 ? FIRST : `${FIRST}:${newest}`;
  await db
    .insertInto('settings')
    .values({ name, value: newest })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  // Two processes may have begun at once, each with a secret of its own: then one of them is told.
  if (known.size === 0) await checkSecrets(db, masters, place);
}

/** The secrets by their names. @param masters gives them, newest first */
export function secretsFrom(
  masters: () => Promise<readonly Uint8Array[]>,
): Pick<Storage, 'secret' | 'earlierSecrets'> {
  return {
    async secret(name) {
      const [newest] = await masters();
      if (!newest) throw new GatewayError('internal', 'this installation has no secret');
      return namedSecret(newest, name);
    },
    earlierSecrets: async (name) => (await masters()).slice(1).map((master) => namedSecret(master, name)),
  };
}

function fingerprintOf(master: Uint8Array): string {
  return createHash('sha256').update('dragoman fingerprint').update(master).digest('hex').slice(0, 16);
}
