// Projects created by command or API.
import { type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import type {
  AuditEntry,
  AuditOf,
  ChangeOf,
  ProjectChange,
  ProjectPageRequest,
  ProjectStore,
  StoredProject,
} from '../../accounts/ports/index.ts';
import { AUDIT, audited, auditInsert } from './audit.ts';
import { CHANGE_NUMBERS, greatestChange, numbering } from './change-numbers.ts';
import { type Database, firstOf, rowsOf, type Store } from './database.ts';
import { SharedJson } from './shared-json.ts';
import { type SchemaOf, table } from './table.ts';
import { contains, decodeEntries, encodeEntries, otherVersion, pageOf, present } from './tenants.ts';

const PROJECTS = table({
  name: 'projects',
  columns: {
    /** Name of the project. */
    id: 'id',
    created_at: 'number',
    updated_at: 'number',
    archived_at: 'number?',
    /** JSON arrays as in the configuration. Null: none. */
    limits: 'text?',
    budgets: 'text?',
    version: 'small',
    changed: 'number',
  },
  key: ['id'],
  indexes: { projects_in_order: ['created_at', 'id'], projects_by_change: ['changed'] },
  defaults: { changed: 0 },
  renumbered: ['changed'],
  extras: numbering('projects'),
});

type ProjectRow = NonNullable<(typeof PROJECTS)['row']>;

export const projects: Store<ProjectStore> = {
  tables: [CHANGE_NUMBERS, AUDIT, PROJECTS],
  open: (database) => new Projects(database),
};

class Projects implements ProjectStore {
  readonly #database: Database;
  readonly #db: Kysely<SchemaOf<[typeof PROJECTS, typeof AUDIT]>>;
  readonly #json = new SharedJson();
  readonly mark: () => Promise<number>;

  constructor(database: Database) {
    this.#database = database;
    this.#db = database.on(PROJECTS, AUDIT);
    this.mark = greatestChange(database, 'projects');
  }

  insert({ id, createdAt, updatedAt, version, ...rest }: StoredProject, audit: AuditEntry): Promise<boolean> {
    const query = this.#db
      .insertInto('projects')
      .values({ ...encodeProjectChange(rest), id, created_at: createdAt, updated_at: updatedAt, version })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id');
    const entry = auditInsert(this.#db, audit);
    return this.#database.exclusively(function* () {
      const isNew = (yield* firstOf(query)) !== undefined;
      if (isNew) yield entry;
      return isNew;
    });
  }

  async find(id: string): Promise<StoredProject | null> {
    const row = await this.#database.ask(() => firstOf(this.#byId(id)));
    return row ? this.#decode(row) : null;
  }

  async list({ isArchived, search, ...page }: ProjectPageRequest): ReturnType<ProjectStore['list']> {
    let query = this.#db.selectFrom('projects').selectAll();
    if (isArchived !== undefined) query = query.where('archived_at', isArchived ? 'is not' : 'is', null);
    if (search !== undefined) query = query.where(contains('id', search));
    const { rows, hasMore } = await pageOf(this.#database, 'projects', query, page);
    return { projects: rows.map(this.#decode), hasMore };
  }

  async update(
    id: string,
    change: ProjectChange,
    { atMs, ifVersion }: ChangeOf,
    auditOf: AuditOf<StoredProject>,
  ): Promise<StoredProject | null> {
    let query = this.#db
      .updateTable('projects')
      .set({ ...encodeProjectChange(change), updated_at: atMs, version: sql`version + 1` })
      .where('id', '=', id);
    if (ifVersion !== undefined) query = query.where('version', '=', ifVersion);
    const changed = await this.#database.exclusively(() =>
      audited(this.#db, this.#byId(id), query.returningAll(), this.#decode, auditOf),
    );
    if (!changed && ifVersion !== undefined && (await this.find(id)))
      throw otherVersion('project', id, ifVersion);
    return changed;
  }

  async changedSince(mark: number): Promise<readonly StoredProject[]> {
    const since = this.#db.selectFrom('projects').selectAll().where('changed', '>', mark);
    return (await this.#database.ask(() => rowsOf(since))).map(this.#decode);
  }

  readonly #decode = (row: Selectable<ProjectRow>): StoredProject => decodeProject(row, this.#json);

  #byId(id: string) {
    return this.#db.selectFrom('projects').selectAll().where('id', '=', id);
  }
}

function encodeProjectChange({ archivedAt, limits, budgets }: ProjectChange): Updateable<ProjectRow> {
  return present({
    archived_at: archivedAt,
    limits: limits && encodeEntries(limits),
    budgets: budgets && encodeEntries(budgets),
  });
}

function decodeProject(row: Selectable<ProjectRow>, json: SharedJson): StoredProject {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    limits: decodeEntries(row.limits, json),
    budgets: decodeEntries(row.budgets, json),
    version: row.version,
  };
}
