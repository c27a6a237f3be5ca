// Projects created by command or API.
import type { Updateable } from 'kysely';
import type { ProjectChange, ProjectStore, StoredProject } from '../../../accounts/ports/index.ts';
import { AUDIT, auditInsert } from './audit.ts';
import { numbering } from './change-numbers.ts';
import { type Database, firstOf, type Store } from '../database.ts';
import { SharedJson } from './shared-json.ts';
import { type RowIn, table } from '../table.ts';
import { contains, decodeEntries, encodeEntries, present, tenantTable } from './tenants.ts';

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

type ProjectRow = RowIn<typeof PROJECTS>;

export const projects: Store<ProjectStore> = {
  tables: [PROJECTS],
  open: openProjects,
};

function openProjects(database: Database): ProjectStore {
  const { on, exclusively } = database;
  const db = on(PROJECTS, AUDIT);
  const json = new SharedJson();
  const decode = (row: ProjectRow): StoredProject => decodeProject(row, json);
  const { page, update, ...reading } = tenantTable(database, { name: 'projects', what: 'project', decode });
  return {
    ...reading,
    insert({ id, createdAt, updatedAt, version, ...rest }, audit) {
      const query = db
        .insertInto('projects')
        .values({ ...encodeProjectChange(rest), id, created_at: createdAt, updated_at: updatedAt, version })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id');
      return exclusively(function* () {
        const isNew = (yield* firstOf(query)) !== undefined;
        if (isNew) yield auditInsert(db, audit);
        return isNew;
      });
    },
    async list({ isArchived, search, ...place }) {
      let query = db.selectFrom('projects').selectAll();
      if (isArchived !== undefined) query = query.where('archived_at', isArchived ? 'is not' : 'is', null);
      if (search !== undefined) query = query.where(contains('id', search));
      const { things, hasMore } = await page(query, place);
      return { projects: things, hasMore };
    },
    update: (id, change, of, auditOf) => update(id, encodeProjectChange(change), of, auditOf),
  };
}

function encodeProjectChange({ archivedAt, limits, budgets }: ProjectChange): Updateable<ProjectRow> {
  return present({
    archived_at: archivedAt,
    limits: limits && encodeEntries(limits),
    budgets: budgets && encodeEntries(budgets),
  });
}

function decodeProject(row: ProjectRow, json: SharedJson): StoredProject {
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
