// Prompt templates and their versions. A change locks the row of the prompt until it commits.
import type { JsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { PromptStore, PromptVersion, StoredPrompt } from '../../../accounts/ports/index.ts';
import { firstOf, type Queries, rowsOf, type StateDatabase, type Store } from '../database.ts';
import { pageAfter } from '../pages.ts';
import { rowBytes } from '../sizes.ts';
import { statement } from '../statement.ts';
import { type RowIn, table } from '../table.ts';

const PROMPTS = table({
  name: 'prompts',
  columns: {
    row: 'row',
    id: 'id',
    key_id: 'id',
    created_at: 'number',
    name: 'text?',
    default_version: 'small',
    /** Highest assigned number. Numbers of deleted versions are not reused. */
    last_version: 'small',
    bytes: 'number',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { prompts_by_key: ['key_id', 'row'] },
});

const PROMPT_VERSIONS = table({
  name: 'prompt_versions',
  columns: {
    prompt_row: 'number',
    version: 'small',
    created_at: 'number',
    bytes: 'number',
    /** JSON object. */
    template: 'text',
  },
  key: ['prompt_row', 'version'],
});

type PromptRow = RowIn<typeof PROMPTS>;
type VersionRow = RowIn<typeof PROMPT_VERSIONS>;

/** Number greater than those of all versions. */
const NO_VERSION = 2 ** 31;

export const prompts: Store<PromptStore> = { tables: [PROMPTS, PROMPT_VERSIONS], open: openPrompts };

function openPrompts({ on, dialect, transact, ask, usage }: StateDatabase): PromptStore {
  const db = on(PROMPTS, PROMPT_VERSIONS);
  const byId = (projectId: string, id: string) =>
    db.selectFrom('prompts').selectAll().where('id', '=', id).where('key_id', '=', projectId);
  const find = statement((v: { projectId: string; id: string }) => byId(v.projectId, v.id));
  const versionOf = statement((v: { row: number; version: number }) =>
    db
      .selectFrom('prompt_versions')
      .selectAll()
      .where('prompt_row', '=', v.row)
      .where('version', '=', v.version),
  );
  /** Finds a version by its exact text: `01` does not match version 1. */
  function* versionRow({ row }: PromptRow, version: string): Queries<VersionRow | undefined> {
    const number = Number(version);
    if (String(number) !== version || !(number >= 1 && number < NO_VERSION)) return undefined;
    return yield* firstOf(versionOf({ row, version: number }));
  }
  /** Changes an existing prompt. @returns `none` if it does not exist */
  const changing = <T>(
    projectId: string,
    id: string,
    none: T,
    change: (row: PromptRow) => Queries<T>,
  ): Promise<T> =>
    transact(function* () {
      const row = yield* firstOf(dialect.held(byId(projectId, id)));
      return row ? yield* change(row) : none;
    });
  function* save(
    { row }: PromptRow,
    change: Partial<Pick<PromptRow, 'name' | 'default_version' | 'last_version' | 'bytes'>>,
  ): Queries<void> {
    yield db.updateTable('prompts').set(change).where('row', '=', row);
  }
  function* insertVersion(version: VersionRow): Queries<void> {
    yield db.insertInto('prompt_versions').values(version);
  }
  /** Decodes prompts with their versions, newest first. */
  function* decoded(rows: readonly PromptRow[]): Queries<readonly StoredPrompt[]> {
    if (rows.length === 0) return [];
    const versions = yield* rowsOf(
      db
        .selectFrom('prompt_versions')
        .selectAll()
        .where(
          dialect.among(
            'prompt_row',
            rows.map(({ row }) => row),
          ),
        )
        .orderBy('version', 'desc'),
    );
    const byPrompt = Map.groupBy(versions, (version) => version.prompt_row);
    return rows.map((row) => decode(row, byPrompt.get(row.row) ?? []));
  }
  return {
    create({ id, projectId, name, createdAt }, template) {
      const text = JSON.stringify(template);
      const own = rowBytes(name ?? '');
      const first = rowBytes(text);
      return transact(function* () {
        const made = yield* firstOf(
          db
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
            .returning('row'),
        );
        if (!made) return;
        yield* insertVersion({
          prompt_row: made.row,
          version: 1,
          created_at: createdAt,
          bytes: first,
          template: text,
        });
        yield* usage.claim(projectId, 0, own + first);
      });
    },
    list: (projectId, page) =>
      ask(function* () {
        const query = db.selectFrom('prompts').selectAll().where('key_id', '=', projectId);
        const byAfter = (id: string) => firstOf(find({ projectId, id }));
        const { rows, hasMore } = yield* pageAfter(query, page, 'prompt', byAfter);
        return { prompts: yield* decoded(rows), hasMore };
      }),
    find: (projectId, id) =>
      ask(function* () {
        const [found] = yield* decoded(yield* rowsOf(find({ projectId, id })));
        return found ?? null;
      }),
    findVersion: (projectId, id, version) =>
      ask(function* () {
        const row = yield* firstOf(find({ projectId, id }));
        const found = row && (yield* versionRow(row, version ?? String(row.default_version)));
        return found ? decodeVersion(found) : null;
      }),
    addVersion(projectId, id, template, createdAt) {
      const text = JSON.stringify(template);
      const bytes = rowBytes(text);
      return changing<string | null>(projectId, id, null, function* (row) {
        const version = row.last_version + 1;
        yield* insertVersion({
          prompt_row: row.row,
          version,
          created_at: createdAt,
          bytes,
          template: text,
        });
        yield* save(row, { last_version: version, bytes: row.bytes + bytes });
        yield* usage.claim(projectId, 0, bytes);
        return String(version);
      });
    },
    setDefault: (projectId, id, version) =>
      changing(projectId, id, false, function* (row) {
        const found = yield* versionRow(row, version);
        if (!found) return false;
        yield* save(row, { default_version: found.version });
        return true;
      }),
    setName: (projectId, id, name) =>
      changing(projectId, id, false, function* (row) {
        const growth = rowBytes(name ?? '') - rowBytes(row.name ?? '');
        yield* save(row, { name, bytes: row.bytes + growth });
        yield* usage.change(projectId, growth);
        return true;
      }),
    deleteVersion: (projectId, id, version) =>
      changing(projectId, id, false, function* (row) {
        const found = yield* versionRow(row, version);
        if (!found) return false;
        if (found.version === row.default_version) throw isDefault(id, version);
        yield db
          .deleteFrom('prompt_versions')
          .where('prompt_row', '=', row.row)
          .where('version', '=', found.version);
        yield* save(row, { bytes: row.bytes - found.bytes });
        yield* usage.release(projectId, 0, found.bytes);
        return true;
      }),
    delete: (projectId, id) =>
      changing(projectId, id, false, function* ({ row, bytes }) {
        yield db.deleteFrom('prompt_versions').where('prompt_row', '=', row);
        yield db.deleteFrom('prompts').where('row', '=', row);
        yield* usage.release(projectId, 0, bytes);
        return true;
      }),
  };
}

function decode(row: PromptRow, versions: readonly VersionRow[]): StoredPrompt {
  return {
    id: row.id,
    projectId: row.key_id,
    name: row.name,
    defaultVersion: String(row.default_version),
    createdAt: row.created_at,
    versions: versions.map(decodeVersion),
  };
}

function decodeVersion(row: VersionRow): PromptVersion {
  return {
    version: String(row.version),
    createdAt: row.created_at,
    template: JSON.parse(row.template) as JsonObject,
  };
}

function isDefault(id: string, version: string): GatewayError {
  return new GatewayError(
    'conflict',
    `Version ${version} of '${id}' is the default. Make another version the default first, or delete the prompt.`,
  );
}
