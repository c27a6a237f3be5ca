// What tells the journals of this database from those of another, and of a later state of itself: the identity that it was
// given once, and the greatest number of a name that entries use.
import { randomBytes } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Origin } from '../journal/origin.ts';
import type { SqliteNames } from './names.ts';
import type { Schema } from './schema.ts';

const SETTING = 'identity';
const IDENTITY_BYTES = 8;
const MARK_BYTES = 6;

/** The identity of a database, which is given one if it has none. Inside a transaction. */
export async function identityOf(db: Kysely<Schema>): Promise<Uint8Array> {
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
  readonly #names: Pick<SqliteNames, 'greatestUsed' | 'greatest'>;
  #current: Buffer;
  #mark = 0;

  constructor(identity: Uint8Array, names: Pick<SqliteNames, 'greatestUsed' | 'greatest'>) {
    this.#identity = identity;
    this.#names = names;
    this.#current = this.#contentFor(0);
  }

  current(): Uint8Array {
    const mark = this.#names.greatestUsed;
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#current = this.#contentFor(mark);
    }
    return this.#current;
  }

  isHere(content: Uint8Array): boolean {
    const bytes = Buffer.from(content);
    if (bytes.length !== IDENTITY_BYTES + MARK_BYTES) return false;
    if (!bytes.subarray(0, IDENTITY_BYTES).equals(this.#identity)) return false;
    return bytes.readUIntBE(IDENTITY_BYTES, MARK_BYTES) <= this.#names.greatest();
  }

  #contentFor(mark: number): Buffer {
    const content = Buffer.alloc(IDENTITY_BYTES + MARK_BYTES, this.#identity);
    content.writeUIntBE(mark, IDENTITY_BYTES, MARK_BYTES);
    return content;
  }
}
