// Prompt templates over HTTP: create, list, retrieve, new versions, rename, delete. OpenAI has no such API; this one is in
// the style of its others. Templates from the operator's files are shown here, and changed there.
import { GatewayError, Problems, type JsonObject } from '../../canonical/index.ts';
import { readBoolean, readString } from '../../protocols/index.ts';
import { newId } from '../../runtime/ids.ts';
import { unknownPrompt, unknownVersion } from '../../state/prompt-library.ts';
import { parseTemplate, type PromptFile } from '../../state/prompt-template.ts';
import type { PromptPage, StoredPrompt } from '../../storage/ports.ts';
import { checkTemplate } from '../check-template.ts';
import { encodeList, readPage } from '../list-page.ts';
import type { AddRoute, StateCall } from './state-routes.ts';

const MAX_NAME_CHARS = 256;

type AnyPrompt = Pick<StoredPrompt, 'id' | 'name' | 'createdAt' | 'defaultVersion' | 'versions'> & {
  readonly source: 'api' | 'file';
};

/** Adds the routes. */
export function addPromptsRoutes(add: AddRoute): void {
  add('post', '/prompts', create);
  add('get', '/prompts', list);
  add('get', '/prompts/:id', async (call) =>
    encodePrompt(await findPrompt(call), call.query.get('version') ?? undefined),
  );
  add('post', '/prompts/:id', update);
  add('delete', '/prompts/:id', remove);
  add('post', '/prompts/:id/versions', addVersion);
  add('delete', '/prompts/:id/versions/:version', removeVersion);
}

async function create(call: StateCall): Promise<JsonObject> {
  const body = await call.body();
  const name = readName(body) ?? null;
  const template = readTemplate(body);
  const id = newId('pmpt_');
  await call.deps.prompts.store.create(
    { id, projectId: call.projectId, name, createdAt: call.now },
    template,
  );
  return encodePrompt(await findStored(call, id), undefined);
}

/** Those of files first, whatever the order; then the stored ones that none of them hides. */
async function list(call: StateCall): Promise<JsonObject> {
  const { store, files } = call.deps.prompts;
  const page = readPage(call.query);
  const known = [...files().values()];
  const at = known.findIndex(({ id }) => id === page.after);
  const inFiles = page.after === undefined || at !== -1;
  const shown: AnyPrompt[] = inFiles ? known.slice(at + 1, at + 1 + page.limit).map(fromFile) : [];
  const ofStore = (limit: number, after?: string): Promise<PromptPage> =>
    store.list(call.projectId, { ...page, after, limit });
  if (shown.length === page.limit) {
    const last = shown.at(-1)?.id;
    const hasMore = last !== known.at(-1)?.id || (await ofStore(1)).prompts.length > 0;
    return encodeList(shown.map(encodeEntry), hasMore);
  }
  let stored = await ofStore(page.limit - shown.length, inFiles ? undefined : page.after);
  for (;;) {
    shown.push(...stored.prompts.filter(({ id }) => !files().has(id)).map(fromStore));
    // A page that is not full although more follow has lost hidden ones.
    if (!stored.hasMore || shown.length === page.limit) break;
    stored = await ofStore(page.limit - shown.length, stored.prompts.at(-1)?.id);
  }
  return encodeList(shown.map(encodeEntry), stored.hasMore);
}

async function update(call: StateCall): Promise<JsonObject> {
  const body = await call.body();
  const name = readName(body);
  const version = readVersion(body);
  const { id } = await findStored(call, call.id('id'));
  const { store } = call.deps.prompts;
  if (version !== undefined && !(await store.setDefault(call.projectId, id, version)))
    throw unknownVersion(id, version, 'default_version');
  if (name !== undefined && !(await store.setName(call.projectId, id, name))) throw unknownPrompt(id);
  return encodePrompt(await findStored(call, id), undefined);
}

async function remove(call: StateCall): Promise<JsonObject> {
  const { id } = await findStored(call, call.id('id'));
  if (!(await call.deps.prompts.store.delete(call.projectId, id))) throw unknownPrompt(id);
  return { id, object: 'prompt.deleted', deleted: true };
}

async function addVersion(call: StateCall): Promise<JsonObject> {
  const body = await call.body();
  const template = readTemplate(body);
  const problems = new Problems();
  const isDefault = readBoolean(body['default'], 'default', problems) === true;
  problems.throwIfAny();
  const { id } = await findStored(call, call.id('id'));
  const { store } = call.deps.prompts;
  const version = await store.addVersion(call.projectId, id, template, call.now);
  if (version === null) throw unknownPrompt(id);
  if (isDefault) await store.setDefault(call.projectId, id, version);
  return encodePrompt(await findStored(call, id), version);
}

async function removeVersion(call: StateCall): Promise<JsonObject> {
  const { id } = await findStored(call, call.id('id'));
  const version = call.id('version');
  if (!(await call.deps.prompts.store.deleteVersion(call.projectId, id, version)))
    throw new GatewayError('not_found', `Version '${version.slice(0, 20)}' of prompt '${id}' not found.`);
  return encodePrompt(await findStored(call, id), undefined);
}

async function findPrompt(call: StateCall): Promise<AnyPrompt> {
  const id = call.id('id');
  const file = call.deps.prompts.files().get(id);
  return file ? fromFile(file) : findStored(call, id);
}

/** The stored one, which alone can be changed. */
async function findStored(call: StateCall, id: string): Promise<AnyPrompt> {
  const { store, files } = call.deps.prompts;
  if (files().has(id))
    throw new GatewayError(
      'conflict',
      `the prompt '${id}' is a file in the folder of the key \`prompts\`; change it there`,
    );
  const found = await store.find(call.projectId, id);
  if (!found) throw unknownPrompt(id);
  return fromStore(found);
}

function fromFile(file: PromptFile): AnyPrompt {
  return { ...file, source: 'file' };
}

function fromStore(stored: StoredPrompt): AnyPrompt {
  return { ...stored, source: 'api' };
}

function encodeEntry({ id, name, createdAt, defaultVersion, versions, source }: AnyPrompt): JsonObject {
  return {
    id,
    object: 'prompt',
    name,
    source,
    created_at: Math.floor(createdAt / 1000),
    default_version: defaultVersion,
    versions: versions.map((each) => ({
      version: each.version,
      created_at: Math.floor(each.createdAt / 1000),
    })),
  };
}

/** With the template of one version, the default one unless named. */
function encodePrompt(prompt: AnyPrompt, version = prompt.defaultVersion): JsonObject {
  const found = prompt.versions.find((each) => each.version === version);
  if (!found) throw unknownVersion(prompt.id, version, 'version');
  const { template } = found;
  const variables = [...parseTemplate(template, 'template').variables];
  return { ...encodeEntry(prompt), version, variables, template };
}

function readTemplate(body: JsonObject): JsonObject {
  const { template } = body;
  checkTemplate(parseTemplate(template, 'template'), 'template');
  return template as JsonObject;
}

/** Null takes the name away; undefined leaves it. */
function readName(body: JsonObject): string | null | undefined {
  if (body['name'] === undefined || body['name'] === null) return body['name'];
  const problems = new Problems();
  const name = readString(body['name'], 'name', problems);
  if (name !== undefined && name.length > MAX_NAME_CHARS)
    problems.add('name', `must not have more than ${MAX_NAME_CHARS} characters`);
  problems.throwIfAny();
  return name;
}

function readVersion(body: JsonObject): string | undefined {
  const problems = new Problems();
  const version = readString(body['default_version'], 'default_version', problems);
  problems.throwIfAny();
  return version;
}
