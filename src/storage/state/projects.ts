// Projects as rows of either database: those that were made by command or API.
import { type Kysely, sql } from 'kysely';
import { decodeProject, encodeProjectChange } from './key-rows.ts';
import type {
  AuditEntry,
  AuditOf,
  ChangeOf,
  ProjectChange,
  ProjectPageRequest,
  ProjectStore,
  StoredProject,
} from '../ports.ts';
import { audited, auditInsert } from './audit-rows.ts';
import type { StateSchema } from './tables.ts';
import { SharedJson } from './shared-json.ts';
import { contains, otherVersion, pageOf } from './tenant-pages.ts';
import type { Transact } from './transact.ts';

export class ProjectRows implements ProjectStore {
  readonly #db: Kysely<StateSchema>;
  readonly #json = new SharedJson();
  readonly #transact: Transact;
  readonly #mark: () => Promise<number>;

  /** @param mark the greatest `changed` of all projects; asked every second */
  constructor(db: Kysely<StateSchema>, transact: Transact, mark: () => Promise<number>) {
    this.#db = db;
    this.#transact = transact;
    this.#mark = mark;
  }

  insert({ id, createdAt, updatedAt, version, ...rest }: StoredProject, audit: AuditEntry): Promise<boolean> {
    const query = this.#db
      .insertInto('projects')
      .values({ ...encodeProjectChange(rest), id, created_at: createdAt, updated_at: updatedAt, version })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .compile();
    const entry = auditInsert(this.#db, audit);
    return this.#transact(function* () {
      const isNew = (yield query).length > 0;
      if (isNew) yield entry;
      return isNew;
    });
  }

  async find(id: string): Promise<StoredProject | null> {
    const row = await this.#db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? decodeProject(row, this.#json) : null;
  }

  async list({ isArchived, search, ...page }: ProjectPageRequest): ReturnType<ProjectStore['list']> {
    let query = this.#db.selectFrom('projects').selectAll();
    if (isArchived !== undefined) query = query.where('archived_at', isArchived ? 'is not' : 'is', null);
    if (search !== undefined) query = query.where(contains('id', search));
    const { rows, hasMore } = await pageOf(this.#db, 'projects', query, page);
    return { projects: rows.map((row) => decodeProject(row, this.#json)), hasMore };
  }

  async update(
    id: string,
    change: ProjectChange,
    { atMs, ifVersion }: ChangeOf,
    auditOf: AuditOf<StoredProject>,
  ): Promise<StoredProject | null> {
    const before = this.#db.selectFrom('projects').selectAll().where('id', '=', id);
    let query = this.#db
      .updateTable('projects')
      .set({ ...encodeProjectChange(change), updated_at: atMs, version: sql`version + 1` })
      .where('id', '=', id);
    if (ifVersion !== undefined) query = query.where('version', '=', ifVersion);
    const changed = await this.#transact(() =>
      audited(this.#db, before, query.returningAll(), (row) => decodeProject(row, this.#json), auditOf),
    );
    if (!changed && ifVersion !== undefined && (await this.find(id)))
      throw otherVersion('project', id, ifVersion);
    return changed;
  }

  mark(): Promise<number> {
    return this.#mark();
  }

  async changedSince(mark: number): Promise<readonly StoredProject[]> {
    const rows = await this.#db.selectFrom('projects').selectAll().where('changed', '>', mark).execute();
    return rows.map((row) => decodeProject(row, this.#json));
  }
}
