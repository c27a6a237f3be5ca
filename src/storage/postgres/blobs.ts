// Bytes by name in PostgreSQL: pieces of a file, a row each, so that nobody's memory holds all of one. A file has its name
// when it is complete, and not before. Knows nothing of who owns it.
import { type Kysely, sql } from 'kysely';
import type { BlobDraft, BlobStore } from '../ports.ts';
import { ID } from './columns.ts';
import type { PostgresBase, PostgresSchema, PostgresStore, Tx } from './store.ts';

/** Bytes of a piece: a read, or a write, of a millisecond or two. */
const PIECE = 256 * 1024;
/** Names that are looked at together. */
const NAMES = 500;

/** Only this store knows the tables. */
interface Tables {
  blobs: {
    row: number;
    /** Null while it is being written. */
    name: string | null;
    pieces: number;
    /** Unix milliseconds, by the clock of the database. */
    written_at: number;
  };
  blob_pieces: { blob: number; number: number; bytes: Uint8Array };
}

const NOW = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`;

class PostgresBlobs implements BlobStore {
  readonly #db: Kysely<Tables>;
  readonly #transaction: <T>(work: (tx: Kysely<Tables>) => Promise<T>) => Promise<T>;

  constructor({ db, transaction }: PostgresBase) {
    this.#db = tablesOf(db);
    this.#transaction = (work) => transaction((tx: Tx) => work(tablesOf(tx)));
  }

  async draft(): Promise<BlobDraft> {
    const { row } = await this.#db
      .insertInto('blobs')
      // The database numbers them.
      .values({ name: null, pieces: 0, written_at: NOW } as unknown as Tables['blobs'])
      .returning('row')
      .executeTakeFirstOrThrow();
    let waiting: Uint8Array[] = [];
    let size = 0;
    let pieces = 0;
    const write = async (): Promise<void> => {
      const bytes = Buffer.concat(waiting);
      waiting = [];
      size = 0;
      for (let from = 0; from < bytes.length; from += PIECE) {
        const piece = bytes.subarray(from, from + PIECE);
        await this.#db
          .insertInto('blob_pieces')
          .values({ blob: row, number: pieces, bytes: piece })
          .execute();
        pieces += 1;
      }
    };
    return {
      async write(bytes) {
        // Whoever gives the bytes may use their place again.
        waiting.push(Uint8Array.from(bytes));
        size += bytes.length;
        if (size >= PIECE) await write();
      },
      keep: async (name) => {
        await write();
        await this.#transaction(async (tx) => {
          await remove(tx, name);
          await tx
            .updateTable('blobs')
            .set({ name, pieces, written_at: NOW })
            .where('row', '=', row)
            .execute();
        });
      },
      discard: () => this.#transaction((tx) => removeRow(tx, row)),
    };
  }

  async read(name: string): Promise<Uint8Array | null> {
    const blob = await this.#find(name);
    if (!blob) return null;
    const pieces: Uint8Array[] = [];
    for (let number = 0; number < blob.pieces; number += 1) pieces.push(await this.#piece(blob.row, number));
    return Buffer.concat(pieces);
  }

  async stream(name: string): Promise<ReadableStream<Uint8Array> | null> {
    const blob = await this.#find(name);
    if (!blob) return null;
    let number = 0;
    return new ReadableStream({
      pull: async (controller) => {
        if (number === blob.pieces) return controller.close();
        controller.enqueue(await this.#piece(blob.row, number));
        number += 1;
      },
    });
  }

  async delete(name: string): Promise<void> {
    await this.#transaction((tx) => remove(tx, name));
  }

  async sweep(beforeMs: number, isKept: (name: string) => Promise<boolean>): Promise<void> {
    for (let after = 0; ;) {
      const some = await this.#db
        .selectFrom('blobs')
        .select(['row', 'name'])
        .where('row', '>', after)
        .where('written_at', '<', beforeMs)
        .orderBy('row')
        .limit(NAMES)
        .execute();
      for (const { row, name } of some)
        if (name === null || !(await isKept(name))) await this.#transaction((tx) => removeRow(tx, row));
      const last = some.at(-1);
      if (!last) return;
      after = last.row;
    }
  }

  #find(name: string): Promise<{ readonly row: number; readonly pieces: number } | undefined> {
    return this.#db.selectFrom('blobs').select(['row', 'pieces']).where('name', '=', name).executeTakeFirst();
  }

  /** @throws Error when it was deleted meanwhile */
  async #piece(row: number, number: number): Promise<Uint8Array> {
    const { bytes } = await this.#db
      .selectFrom('blob_pieces')
      .select('bytes')
      .where('blob', '=', row)
      .where('number', '=', number)
      .executeTakeFirstOrThrow();
    return bytes;
  }
}

async function remove(tx: Kysely<Tables>, name: string): Promise<void> {
  const found = await tx.selectFrom('blobs').select('row').where('name', '=', name).forUpdate().execute();
  for (const { row } of found) await removeRow(tx, row);
}

async function removeRow(tx: Kysely<Tables>, row: number): Promise<void> {
  await tx.deleteFrom('blob_pieces').where('blob', '=', row).execute();
  await tx.deleteFrom('blobs').where('row', '=', row).execute();
}

function tablesOf(db: Kysely<PostgresSchema>): Kysely<Tables> {
  return db as unknown as Kysely<Tables>;
}

async function makeTables(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema
    .createTable('blobs')
    .addColumn('row', 'bigint', (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('name', ID, (c) => c.unique())
    .addColumn('pieces', 'integer', (c) => c.notNull())
    .addColumn('written_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('blob_pieces')
    .addColumn('blob', 'bigint', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('bytes', 'bytea', (c) => c.notNull())
    .addPrimaryKeyConstraint('blob_pieces_key', ['blob', 'number'])
    .execute();
  // Pictures and documents are compressed already.
  await sql`alter table blob_pieces alter column bytes set storage external`.execute(db);
}

export const postgresBlobs: PostgresStore<BlobStore> = {
  migrations: [{ name: 'bytes of files', isAdditive: true, up: makeTables }],
  open: (base) => new PostgresBlobs(base),
};
