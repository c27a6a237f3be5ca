// JSON of keys and projects for the management API and the audit log, without secrets and hashes.
import type { JsonObject } from '../../base/json/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { KeyView } from './key-view.ts';
import type { ProjectView } from './project-commands.ts';
import type { UnixMs } from '../../base/units.ts';

export function keyJson(key: KeyView): JsonObject {
  return {
    object: 'key',
    id: key.id,
    name: key.name,
    project: key.projectId,
    roles: [...key.roles],
    hint: key.hint,
    state: key.state,
    source: key.source,
    created_at: isoTime(key.createdAt),
    updated_at: isoTime(key.updatedAt),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
    previous_valid_until: isoTime(key.previousUntil),
    models: key.models && [...key.models],
    log_content: key.logContent,
    strict: key.strict,
    on_disconnect: key.onDisconnect,
    // Preferences of the configuration file exist only in parsed form, which differs from the file.
    ...(key.source === 'database' && { routing: key.routing as JsonObject | null }),
    limits: key.limits.map(entryJson),
    budgets: key.budgets.map(entryJson),
    version: key.version,
  };
}

export function projectJson(project: ProjectView): JsonObject {
  return {
    object: 'project',
    id: project.id,
    state: project.state,
    source: project.source,
    created_at: isoTime(project.createdAt),
    updated_at: isoTime(project.updatedAt),
    archived_at: isoTime(project.archivedAt),
    limits: project.limits.map(entryJson),
    budgets: project.budgets.map(entryJson),
    version: project.version,
  };
}

function entryJson(entry: LimitEntry): JsonObject {
  return { ...entry };
}

function isoTime(unixMs: UnixMs | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
