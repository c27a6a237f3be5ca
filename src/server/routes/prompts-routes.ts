// Prompt templates over HTTP: create, list, get, add versions, rename, delete. OpenAI has no such API; this one follows
// its style. Templates from the operator's files are read-only here.
import { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { listShape } from '../../protocols/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import { unknownPrompt, unknownVersion } from '../../engine/state/prompt-library.ts';
import { parseTemplate, type PromptFile } from '../../engine/state/prompt-template.ts';
import type { PageRequest, PromptPage, StoredPrompt } from '../../accounts/ports/index.ts';
import { checkTemplate } from '../check-template.ts';
import { deletedShape, encodeList, pageQuery } from '../list-page.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';

const MAX_NAME_CHARS = 256;

type AnyPrompt = Pick<StoredPrompt, 'id' | 'name' | 'createdAt' | 'defaultVersion' | 'versions'> & {
  readonly source: 'api' | 'file';
};

const tag = 'Prompts';
const name = z
  .string()
  .max(MAX_NAME_CHARS, TEXTS.tooLong(MAX_NAME_CHARS))
  .nullish()
  .describe('Null removes the name.');
const template = z.looseObject({}).describe('A request with `{{variables}}` in its texts.');
const promptShape = z.looseObject({
  id: z.string(),
  object: z.literal('prompt'),
  default_version: z.string(),
});
const ofOne = {
  tag,
  params: {
    id: { description: 'The id of the prompt.' },
    version: { description: 'The number of the version.' },
  },
  refusals: [402, 404, 409],
} as const;
const id = '$response.body#/id';
const TEMPLATE = { input: [{ role: 'user', content: 'Hello {{name}}' }] };

export const PROMPT_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'createPrompt',
    method: 'post',
    path: '/prompts',
    summary: 'Creates a prompt template.',
    body: z.looseObject({ name, template }),
    bodyExample: { name: 'greeting', template: TEMPLATE },
    answer: promptShape,
    links: { retrievePrompt: { id }, updatePrompt: { id }, addPromptVersion: { id }, deletePrompt: { id } },
    async run(call) {
      const created = { id: newId('pmpt_'), projectId: call.projectId, createdAt: call.now };
      const content = readTemplate(call.sent);
      await call.deps.prompts.store.create({ ...created, name: call.body.name ?? null }, content);
      return encodePrompt(await findStored(call, created.id), undefined);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listPrompts',
    method: 'get',
    path: '/prompts',
    summary: 'Lists the prompt templates, those from files first.',
    query: z.object(pageQuery()),
    answer: listShape(promptShape),
    run: list,
  }),
  clientRoute({
    ...ofOne,
    id: 'retrievePrompt',
    method: 'get',
    path: '/prompts/{id}',
    summary: 'Returns a prompt with the template of one version.',
    query: z.object({ version: z.string().optional() }),
    answer: promptShape,
    run: async (call) => encodePrompt(await findPrompt(call), call.query.version),
  }),
  clientRoute({
    ...ofOne,
    id: 'updatePrompt',
    method: 'post',
    path: '/prompts/{id}',
    summary: 'Updates the name or the default version of a prompt.',
    body: z.looseObject({ name, default_version: z.string().nullish() }),
    bodyExample: { name: 'welcome' },
    answer: promptShape,
    async run(call) {
      const { name: given, default_version: version } = call.body;
      const kept = (await findStored(call, call.param('id'))).id;
      const { store } = call.deps.prompts;
      if (typeof version === 'string' && !(await store.setDefault(call.projectId, kept, version)))
        throw unknownVersion(kept, version, 'default_version');
      if (given !== undefined && !(await store.setName(call.projectId, kept, given)))
        throw unknownPrompt(kept);
      return encodePrompt(await findStored(call, kept), undefined);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deletePrompt',
    method: 'delete',
    path: '/prompts/{id}',
    summary: 'Deletes a prompt and all its versions.',
    answer: deletedShape,
    async run(call) {
      const kept = (await findStored(call, call.param('id'))).id;
      if (!(await call.deps.prompts.store.delete(call.projectId, kept))) throw unknownPrompt(kept);
      return { id: kept, object: 'prompt.deleted', deleted: true as const };
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'addPromptVersion',
    method: 'post',
    path: '/prompts/{id}/versions',
    summary: 'Adds a version to a prompt.',
    body: z.looseObject({ template, default: z.boolean().nullish() }),
    bodyExample: { template: TEMPLATE },
    answer: promptShape,
    async run(call) {
      const content = readTemplate(call.sent);
      const kept = (await findStored(call, call.param('id'))).id;
      const { store } = call.deps.prompts;
      const version = await store.addVersion(call.projectId, kept, content, call.now);
      if (version === null) throw unknownPrompt(kept);
      if (call.body.default === true) await store.setDefault(call.projectId, kept, version);
      return encodePrompt(await findStored(call, kept), version);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deletePromptVersion',
    method: 'delete',
    path: '/prompts/{id}/versions/{version}',
    summary: 'Deletes a version that is not the default.',
    answer: promptShape,
    async run(call) {
      const kept = (await findStored(call, call.param('id'))).id;
      const version = call.param('version');
      if (!(await call.deps.prompts.store.deleteVersion(call.projectId, kept, version)))
        throw new GatewayError(
          'not_found',
          `Version '${version.slice(0, 20)}' of prompt '${kept}' not found.`,
        );
      return encodePrompt(await findStored(call, kept), undefined);
    },
  }),
];

type PromptCall = Pick<ClientCall, 'deps' | 'projectId' | 'param'>;

/** Templates from files come first in any order, then stored ones with other ids. */
async function list(call: PromptCall & { readonly query: PageRequest }): Promise<JsonObject> {
  const { store, files } = call.deps.prompts;
  const page = call.query;
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
    // A page with fewer entries although more follow omitted hidden ones.
    if (!stored.hasMore || shown.length === page.limit) break;
    stored = await ofStore(page.limit - shown.length, stored.prompts.at(-1)?.id);
  }
  return encodeList(shown.map(encodeEntry), stored.hasMore);
}

async function findPrompt(call: PromptCall): Promise<AnyPrompt> {
  const file = call.deps.prompts.files().get(call.param('id'));
  return file ? fromFile(file) : findStored(call, call.param('id'));
}

/** A stored template; only these can be changed. */
async function findStored(call: PromptCall, kept: string): Promise<AnyPrompt> {
  const { store, files } = call.deps.prompts;
  if (files().has(kept))
    throw new GatewayError(
      'conflict',
      `The prompt '${kept}' is a file in the folder that the setting \`prompts\` names. Change it there.`,
    );
  const found = await store.find(call.projectId, kept);
  if (!found) throw unknownPrompt(kept);
  return fromStore(found);
}

function fromFile(file: PromptFile): AnyPrompt {
  return { ...file, source: 'file' };
}

function fromStore(stored: StoredPrompt): AnyPrompt {
  return { ...stored, source: 'api' };
}

function encodeEntry(prompt: AnyPrompt) {
  return {
    id: prompt.id,
    object: 'prompt' as const,
    name: prompt.name,
    source: prompt.source,
    created_at: Math.floor(prompt.createdAt / 1000),
    default_version: prompt.defaultVersion,
    versions: prompt.versions.map((each) => ({
      version: each.version,
      created_at: Math.floor(each.createdAt / 1000),
    })),
  };
}

/** Includes the template of one version, by default the default version. */
function encodePrompt(prompt: AnyPrompt, version = prompt.defaultVersion): z.input<typeof promptShape> {
  const found = prompt.versions.find((each) => each.version === version);
  if (!found) throw unknownVersion(prompt.id, version, 'version');
  const variables = [...parseTemplate(found.template, 'template').variables];
  return { ...encodeEntry(prompt), version, variables, template: found.template };
}

function readTemplate({ template: given }: JsonObject): JsonObject {
  checkTemplate(parseTemplate(given, 'template'), 'template');
  return given as JsonObject;
}
