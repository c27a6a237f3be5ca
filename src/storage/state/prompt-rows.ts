// Prompt templates and their versions as rows. Knows nothing of what a template says.
import type { JsonObject } from '../../canonical/index.ts';
import type { PromptVersion, StoredPrompt } from '../ports.ts';
import type { PromptTable, PromptVersionTable } from './tables.ts';

export type PromptRow = Omit<PromptTable, 'row'> & { readonly row: number };
export type VersionRow = Omit<PromptVersionTable, 'prompt_row'>;

/** The prompt of a row. @param versions newest first */
export function decodePrompt(row: PromptRow, versions: readonly VersionRow[]): StoredPrompt {
  return {
    id: row.id,
    projectId: row.key_id,
    name: row.name,
    defaultVersion: String(row.default_version),
    createdAt: row.created_at,
    versions: versions.map(decodeVersion),
  };
}

export function decodeVersion(row: VersionRow): PromptVersion {
  return {
    version: String(row.version),
    createdAt: row.created_at,
    template: JSON.parse(row.template) as JsonObject,
  };
}
