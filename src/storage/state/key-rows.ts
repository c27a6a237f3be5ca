// Keys and projects as rows. Knows hashes only, never a key itself.
import type { Selectable, Updateable } from 'kysely';
import type { KeyRole, RoutingDefaults } from '../../canonical/index.ts';
import type { LimitEntry } from '../../limits/index.ts';
import type { KeyChange, ProjectChange, StoredKey, StoredProject } from '../ports.ts';
import type { KeyTable, ProjectTable } from './tables.ts';
import type { SharedJson } from './shared-json.ts';

/** Shared by the keys that have no others. */
const USUAL_ROLES: readonly KeyRole[] = ['models'];
const NO_ENTRIES: readonly LimitEntry[] = [];

/** The columns that a change writes: of those that it does not name, none. */
export function encodeKeyChange(change: KeyChange): Updateable<KeyTable> {
  const { name, hash, hint, expiresAt, revokedAt, models, logContent, strict, routing } = change;
  const { roles, limits, budgets, previous } = change;
  return present({
    name,
    hash,
    hint,
    expires_at: expiresAt,
    revoked_at: revokedAt,
    models: models && JSON.stringify(models),
    ...encodeLogContent(logContent),
    strict: strict === undefined || strict === null ? strict : Number(strict),
    routing: routing && JSON.stringify(routing),
    roles: roles && (isUsual(roles) ? null : JSON.stringify(roles)),
    limits: limits && encodeEntries(limits),
    budgets: budgets && encodeEntries(budgets),
    previous_hash: previous === null ? null : previous?.hash,
    previous_until: previous === null ? null : previous?.until,
  });
}

/** In two columns: programs that do not know the second keep nothing of a key that has not said so. */
function encodeLogContent(
  logContent: boolean | null | undefined,
): Pick<Updateable<KeyTable>, 'log_content' | 'content_as_configured'> {
  if (logContent === undefined) return {};
  return { log_content: Number(logContent ?? false), content_as_configured: logContent === null ? 1 : null };
}

export function decodeKey(row: Selectable<KeyTable>, json: SharedJson): StoredKey {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    models: row.models === null ? null : (json.parse(row.models) as string[]),
    logContent: row.content_as_configured === 1 ? null : row.log_content !== 0,
    routing: row.routing === null ? null : (json.parse(row.routing) as RoutingDefaults),
    strict: row.strict === null ? null : row.strict !== 0,
    projectId: row.project_id,
    roles: row.roles === null ? USUAL_ROLES : (json.parse(row.roles) as KeyRole[]),
    limits: decodeEntries(row.limits, json),
    budgets: decodeEntries(row.budgets, json),
    previous: row.previous_hash === null ? null : { hash: row.previous_hash, until: row.previous_until ?? 0 },
    updatedAt: row.updated_at ?? row.created_at,
    version: row.version,
  };
}

export function encodeProjectChange({
  archivedAt,
  limits,
  budgets,
}: ProjectChange): Updateable<ProjectTable> {
  return present({
    archived_at: archivedAt,
    limits: limits && encodeEntries(limits),
    budgets: budgets && encodeEntries(budgets),
  });
}

export function decodeProject(row: Selectable<ProjectTable>, json: SharedJson): StoredProject {
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

/** Without the members that are undefined, which the database would be given as null. */
function present<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}

function isUsual(roles: readonly KeyRole[]): boolean {
  return roles.length === 1 && roles[0] === 'models';
}

function encodeEntries(entries: readonly LimitEntry[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries);
}

function decodeEntries(text: string | null, json: SharedJson): readonly LimitEntry[] {
  return text === null ? NO_ENTRIES : (json.parse(text) as LimitEntry[]);
}
