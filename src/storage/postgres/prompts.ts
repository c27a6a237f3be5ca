// Prompt templates and their versions in PostgreSQL. Whoever changes a prompt holds its row until it commits. Knows nothing of
// what a template says.
import type { Kysely } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { PageRequest, PromptPage, PromptStore, PromptVersion, StoredPrompt } from '../ports.ts';
import { decodePrompt, decodeVersion, type PromptRow, type VersionRow } from '../state/prompt-rows.ts';
import { rowBytes } from '../state/sizes.ts';
import type { PostgresStateUsage } from './state-usage.ts';
import type { PostgresBase, PostgresSchema, Tx } from './store.ts';

type Changing = Pick<PromptRow, 'name' | 'default_version' | 'last_version' | 'bytes'>;

export class PostgresPrompts implements PromptStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #usage: PostgresStateUsage;

  constructor({ db, transaction, usage }: PostgresBase) {
    this.#db = db;
    this.#transaction = transaction;
    this.#usage = usage;
  }

  async create(
    { id, projectId, name, createdAt }: Pick<StoredPrompt, 'id' | 'projectId' | 'name' | 'createdAt'>,
    template: JsonObject,
  ): Promise<void> {
    const text = JSON.stringify(template);
    const own = rowBytes(name ?? '');
    const first = rowBytes(text);
    await this.#transaction(async (tx) => {
      const made = await tx
        .insertInto('prompts')
        .values({
          id,
          key_id: projectId,
          created_at: createdAt,
          name,
          default_version: 1,
          last_version: 1,
          bytes: own + first,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('row')
        .executeTakeFirst();
      if (!made) return;
      await insertVersion(tx, made.row, { version: 1, created_at: createdAt, bytes: first, template: text });
      await this.#usage.claim(tx, projectId, 0, own + first);
    });
  }

  async list(projectId: string, { after, limit, order }: PageRequest): Promise<PromptPage> {
    let query = this.#db.selectFrom('prompts').selectAll().where('key_id', '=', projectId);
    if (after !== undefined) {
      const place = await this.#row(this.#db, projectId, after);
      if (!place) throw new GatewayError('invalid_request', `no prompt '${after}'`, { param: 'after' });
      query = query.where('row', order === 'asc' ? '>' : '<', place.row);
    }
    // One more than asked for: it says whether there are more.
    const rows = await query
      .orderBy('row', order)
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const versions = await this.#versionsOf(page);
    return {
      prompts: page.map((row) => decodePrompt(row, versions.get(row.row) ?? [])),
      hasMore: rows.length > limit,
    };
  }

  async find(projectId: string, id: string): Promise<StoredPrompt | null> {
    const row = await this.#row(this.#db, projectId, id);
    return row ? decodePrompt(row, (await this.#versionsOf([row])).get(row.row) ?? []) : null;
  }

  async findVersion(projectId: string, id: string, version?: string): Promise<PromptVersion | null> {
    const row = await this.#row(this.#db, projectId, id);
    const found = row && (await versionRow(this.#db, row, version ?? String(row.default_version)));
    return found ? decodeVersion(found) : null;
  }

  addVersion(projectId: string, id: string, template: JsonObject, createdAt: number): Promise<string | null> {
    const text = JSON.stringify(template);
    const bytes = rowBytes(text);
    return this.#transaction(async (tx) => {
      const row = await this.#row(tx, projectId, id);
      if (!row) return null;
      await this.#usage.claim(tx, projectId, 0, bytes);
      const version = row.last_version + 1;
      await insertVersion(tx, row.row, { version, created_at: createdAt, bytes, template: text });
      await save(tx, row, { last_version: version, bytes: row.bytes + bytes });
      return String(version);
    });
  }

  setDefault(projectId: string, id: string, version: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const row = await this.#row(tx, projectId, id);
      const found = row && (await versionRow(tx, row, version));
      if (!row || !found) return false;
      await save(tx, row, { default_version: found.version });
      return true;
    });
  }

  setName(projectId: string, id: string, name: string | null): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const row = await this.#row(tx, projectId, id);
      if (!row) return false;
      const growth = rowBytes(name ?? '') - rowBytes(row.name ?? '');
      await this.#usage.change(tx, projectId, growth);
      await save(tx, row, { name, bytes: row.bytes + growth });
      return true;
    });
  }

  deleteVersion(projectId: string, id: string, version: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const row = await this.#row(tx, projectId, id);
      const found = row && (await versionRow(tx, row, version));
      if (!row || !found) return false;
      if (found.version === row.default_version) throw isDefault(id, version);
      await tx
        .deleteFrom('prompt_versions')
        .where('prompt_row', '=', row.row)
        .where('version', '=', found.version)
        .execute();
      await save(tx, row, { bytes: row.bytes - found.bytes });
      await this.#usage.release(tx, projectId, 0, found.bytes);
      return true;
    });
  }

  delete(projectId: string, id: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const row = await this.#row(tx, projectId, id);
      if (!row) return false;
      await tx.deleteFrom('prompt_versions').where('prompt_row', '=', row.row).execute();
      await tx.deleteFrom('prompts').where('row', '=', row.row).execute();
      await this.#usage.release(tx, projectId, 0, row.bytes);
      return true;
    });
  }

  /** The row of a prompt; in a transaction, held until the commit. */
  #row(db: Kysely<PostgresSchema>, projectId: string, id: string): Promise<PromptRow | undefined> {
    const query = db.selectFrom('prompts').selectAll().where('id', '=', id).where('key_id', '=', projectId);
    return (db.isTransaction ? query.forUpdate() : query).executeTakeFirst();
  }

  /** Newest first, by the rows of their prompts. */
  async #versionsOf(prompts: readonly PromptRow[]): Promise<ReadonlyMap<number, readonly VersionRow[]>> {
    const rows = await this.#db
      .selectFrom('prompt_versions')
      .selectAll()
      .where('prompt_row', 'in', [-1, ...prompts.map(({ row }) => row)])
      .orderBy('version', 'desc')
      .execute();
    return Map.groupBy(rows, (row) => row.prompt_row);
  }
}

/** The version that is written exactly so: `01` names none. */
async function versionRow(
  db: Kysely<PostgresSchema>,
  { row }: PromptRow,
  version: string,
): Promise<VersionRow | undefined> {
  const number = Number(version);
  if (String(number) !== version || !(number >= 1 && number < 2 ** 31)) return undefined;
  return db
    .selectFrom('prompt_versions')
    .select(['version', 'created_at', 'bytes', 'template'])
    .where('prompt_row', '=', row)
    .where('version', '=', number)
    .executeTakeFirst();
}

async function insertVersion(tx: Tx, prompt: number, version: VersionRow): Promise<void> {
  await tx
    .insertInto('prompt_versions')
    .values({ prompt_row: prompt, ...version })
    .execute();
}

async function save(tx: Tx, { row }: PromptRow, change: Partial<Changing>): Promise<void> {
  await tx.updateTable('prompts').set(change).where('row', '=', row).execute();
}

function isDefault(id: string, version: string): GatewayError {
  return new GatewayError(
    'conflict',
    `version ${version} of '${id}' is the default: make another version the default first, or delete the prompt`,
  );
}
