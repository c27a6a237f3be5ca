// Origin of this database's journals: the identity that it was given once.
import { randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Origin } from '../journal/origin.ts';
import type { SettingsSchema } from '../tables/settings.ts';

const SETTING = 'identity';
const IDENTITY_BYTES = 8;

/** The identity of a database, which is given one if it has none. Inside a transaction. */
export async function identityOf(db: Kysely<SettingsSchema>): Promise<Uint8Array> {
  await db
    .insertInto('settings')
    .values({ name: SETTING, value: randomBytes(IDENTITY_BYTES).toString('hex') })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { value } = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', sql.lit(SETTING))
    .executeTakeFirstOrThrow();
  return Buffer.from(value, 'hex');
}

export class JournalOrigin implements Origin {
  readonly #identity: Uint8Array;

  constructor(identity: Uint8Array) {
    this.#identity = identity;
  }

  current(): Uint8Array {
    return this.#identity;
  }

  isHere(content: Uint8Array): boolean {
    return Buffer.from(content).equals(this.#identity);
  }
}
