// Finds the records that earlier versions wrote, in the tables that they wrote them to. Nothing is added to these.
import type { Kysely } from 'kysely';
import type { GenerationRecord } from '../../ledger/index.ts';
import { decodeAttempt, decodeGeneration } from './earlier-ledger-rows.ts';
import type { FoundRecord } from '../record-reader.ts';
import type { Schema } from './schema.ts';

export class EarlierLedger {
  readonly #db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  /** @param contentOf gives prompt and answer of the one that is found */
  async find(id: string, contentOf: () => GenerationRecord['content']): Promise<FoundRecord | null> {
    const row = await this.#db.selectFrom('generations').selectAll().where('id', '=', id).executeTakeFirst();
    if (!row) return null;
    const { generation, attempts } = decodeGeneration(row, contentOf());
    if (attempts.length > 0) return { generation, attempts };
    const rows = await this.#db
      .selectFrom('attempts')
      .selectAll()
      .where('generation_id', '=', id)
      .orderBy('ordinal')
      .execute();
    return { generation, attempts: rows.map((attempt) => decodeAttempt(attempt, generation)) };
  }
}
