// Reads records by their ids, whichever version wrote them. Lists read a hundred at a time: the statements are kept.
import type { GenerationRecord } from '../../ledger/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { CompactReader } from '../compact/reader.ts';
import { storedId } from '../record-ids.ts';
import { type FoundRecord, readRecord } from '../record-reader.ts';
import { EarlierLedger } from './earlier-ledger.ts';
import type { SqliteNames } from './names.ts';
import type { RecordTable } from './schema.ts';
import type { SqliteBase } from './store.ts';

type Content = GenerationRecord['content'];

export class FoundRecords {
  readonly #names: SqliteNames;
  readonly #earlier: EarlierLedger;
  /** Binds an id. */
  readonly #record: SqlStatement;
  /** Binds an id. */
  readonly #content: SqlStatement;

  constructor({ connection, db, names }: Pick<SqliteBase, 'connection' | 'db' | 'names'>) {
    this.#names = names;
    this.#earlier = new EarlierLedger(db);
    const record = db
      .selectFrom('records')
      .select(['key', 'created_at', 'model', 'provider', 'status', 'cost_usd', 'record'])
      .where('id', '=', '');
    const content = db
      .selectFrom('generation_contents')
      .select(['request', 'answer'])
      .where('generation_id', '=', '');
    this.#record = connection.prepare(record.compile().sql);
    this.#content = connection.prepare(content.compile().sql);
  }

  /** One of any version, with its prompt and answer where they are kept; null where there is none. */
  async find(id: string): Promise<FoundRecord | null> {
    return this.#find(id, () => this.#contentOf(id));
  }

  /** Those that are there, in the order of their ids, without prompts and answers: these may be a megabyte each. */
  async several(ids: readonly string[]): Promise<readonly FoundRecord[]> {
    const found: FoundRecord[] = [];
    for (const id of ids) {
      const record = await this.#find(id, () => null);
      if (record) found.push(record);
    }
    return found;
  }

  async #find(id: string, contentOf: () => Content): Promise<FoundRecord | null> {
    const row = this.#record.all(storedId(id))[0] as object as RecordTable | undefined;
    if (!row) return this.#earlier.find(id, contentOf);
    const textOf = (number: number): string => this.#names.textOf(number);
    return readRecord(new CompactReader(row.record, textOf), {
      id,
      keyId: textOf(row.key),
      createdAt: row.created_at,
      model: row.model === null ? null : textOf(row.model),
      provider: row.provider === null ? null : textOf(row.provider),
      status: row.status,
      costUsd: row.cost_usd,
      content: contentOf(),
    });
  }

  /** Whichever version wrote it; null where it is not kept. */
  #contentOf(id: string): Content {
    const row = this.#content.all(id)[0] as { request: string; answer: string } | undefined;
    return row ? { request: JSON.parse(row.request), answer: JSON.parse(row.answer) } : null;
  }
}
