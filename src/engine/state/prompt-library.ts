// Prompt templates: the operator's files, and those stored by projects. A file takes precedence over a stored template
// with the same id.
import { GatewayError, notFound } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { PromptRequest } from '../../canonical/index.ts';
import type { PromptStore, PromptVersion } from '../../accounts/ports/index.ts';
import { parseTemplate, renderTemplate } from './prompt-template.ts';
import type { PromptFile, RenderedPrompt } from './prompt-template.ts';

export interface PromptLibrary {
  readonly store: PromptStore;
  /** Templates of the current configuration, by id. */
  readonly files: () => ReadonlyMap<string, PromptFile>;
}

/**
 * Renders the template that a request names.
 * @param variables from the request, raw
 * @throws GatewayError 404 `not_found` for an unknown id; 400 for an unknown version or invalid variables
 */
export async function renderPrompt(
  library: PromptLibrary,
  projectId: string,
  prompt: Pick<PromptRequest, 'id' | 'version'>,
  variables: JsonObject,
): Promise<RenderedPrompt> {
  const { id, version } = prompt;
  const found = await findVersion(library, projectId, id, version);
  if (found) return renderTemplate(parseTemplate(found.template, 'prompt'), variables);
  const exists = library.files().has(id) || (await library.store.find(projectId, id)) !== null;
  throw exists ? unknownVersion(id, version ?? '', 'prompt.version') : unknownPrompt(id, 'prompt.id');
}

async function findVersion(
  { store, files }: PromptLibrary,
  projectId: string,
  id: string,
  version: string | undefined,
): Promise<Pick<PromptVersion, 'template'> | null> {
  const file = files().get(id);
  if (!file) return store.findVersion(projectId, id, version);
  return file.versions.find((each) => each.version === (version ?? file.defaultVersion)) ?? null;
}

/** 404. @param param member or path that names the prompt */
export function unknownPrompt(id: string, param?: string): GatewayError {
  return notFound('Prompt', id, param);
}

/** 400. @param param member that names the version */
export function unknownVersion(id: string, version: string, param: string): GatewayError {
  const message = `${param}: the prompt '${id.slice(0, 100)}' has no version '${version.slice(0, 20)}'`;
  return new GatewayError('invalid_request', message, { param });
}
