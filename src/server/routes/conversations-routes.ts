// Conversations over HTTP: lists of items that clients store and that responses are appended to.
import { z } from 'zod';
import { asArray, asObject, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { Problems, notFound } from '../../canonical/index.ts';
import { anyObject, decodeMetadata, listShape } from '../../protocols/index.ts';
import { newGenerationId, newId } from '../../base/runtime/ids.ts';
import type { StoredConversation } from '../../accounts/ports/index.ts';
import { deletedShape, encodeList, INCLUDE, pageQuery, readInclude } from '../list-page.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';
import { storedItems } from './state-routes.ts';

/** OpenAI API reference, "Create a conversation": `items`. */
const MAX_ITEMS = 20;

const metadata = z.record(z.string(), z.string()).describe('Up to 16 pairs.');
const items = z.array(z.looseObject({ type: z.string().optional() }), 'must be an array of items');
const someItems = items.max(MAX_ITEMS, `must have at most ${MAX_ITEMS} items`);
const conversation = z.looseObject({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
});
const ofOne = {
  tag: 'Conversations',
  params: {
    id: { description: 'The id of the conversation.' },
    item: { description: 'The id of the item.' },
  },
  refusals: [402, 404, 409],
} as const;
const MESSAGE = { type: 'message', role: 'user', content: 'Hello' };
const id = '$response.body#/id';

export const CONVERSATION_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'createConversation',
    method: 'post',
    path: '/conversations',
    summary: 'Creates a conversation.',
    body: z.looseObject({ metadata: metadata.nullish(), items: someItems.nullish() }).optional(),
    bodyExample: { metadata: { topic: 'demo' }, items: [MESSAGE] },
    answer: conversation,
    links: {
      retrieveConversation: { id },
      updateConversation: { id },
      listItems: { id },
      addItems: { id },
      deleteConversation: { id },
    },
    // Like OpenAI's, conversations do not expire, because a long one must keep its beginning. Quotas limit them.
    async run(call) {
      const created: StoredConversation = {
        id: newId('conv_'),
        projectId: call.projectId,
        createdAt: call.now,
        expiresAt: null,
        metadata: readMetadata(call.sent),
      };
      await call.deps.state.conversations.create(created, await readItems(call));
      return encodeConversation(created);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'retrieveConversation',
    method: 'get',
    path: '/conversations/{id}',
    summary: 'Returns a conversation without its items.',
    answer: conversation,
    run: async (call) => encodeConversation(await findConversation(call)),
  }),
  clientRoute({
    ...ofOne,
    id: 'updateConversation',
    method: 'post',
    path: '/conversations/{id}',
    summary: 'Updates the metadata of a conversation.',
    body: z.looseObject({ metadata: metadata.nullable() }),
    bodyExample: { metadata: { topic: 'other' } },
    answer: conversation,
    async run(call) {
      const changed = readMetadata(call.sent);
      const found = await findConversation(call);
      const updated = await call.deps.state.conversations.setMetadata(call.projectId, found.id, changed);
      if (!updated) throw notFound('Conversation', found.id);
      return encodeConversation(updated);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteConversation',
    method: 'delete',
    path: '/conversations/{id}',
    summary: 'Deletes a conversation and its items.',
    answer: deletedShape,
    async run(call) {
      const found = await findConversation(call);
      if (!(await call.deps.state.conversations.delete(call.projectId, found.id)))
        throw notFound('Conversation', found.id);
      return { id: found.id, object: 'conversation.deleted', deleted: true as const };
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listItems',
    method: 'get',
    path: '/conversations/{id}/items',
    summary: 'Lists the items of a conversation.',
    query: z.object({ ...pageQuery(), ...INCLUDE }),
    answer: listShape(anyObject),
    async run(call) {
      const include = readInclude(call.search);
      const kept = await findConversation(call);
      const found = await call.deps.state.conversations.items(call.projectId, kept.id, call.query);
      if (!found) throw notFound('Conversation', kept.id);
      return encodeList(
        found.items.map((item) => storedItems.show(item, include)),
        found.hasMore,
      );
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'addItems',
    method: 'post',
    path: '/conversations/{id}/items',
    summary: 'Adds items to a conversation.',
    query: z.object(INCLUDE),
    body: z.looseObject({ items: someItems }),
    bodyExample: { items: [MESSAGE] },
    answer: listShape(anyObject),
    async run(call) {
      const include = readInclude(call.search);
      const kept = await findConversation(call);
      const added = await readItems(call);
      if (!(await call.deps.state.conversations.append(call.projectId, kept.id, added)))
        throw notFound('Conversation', kept.id);
      return encodeList(
        added.map((item) => storedItems.show(item, include)),
        false,
      );
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'retrieveItem',
    method: 'get',
    path: '/conversations/{id}/items/{item}',
    summary: 'Returns an item of a conversation.',
    query: z.object(INCLUDE),
    answer: anyObject,
    async run(call) {
      const include = readInclude(call.search);
      const kept = await findConversation(call);
      const item = await call.deps.state.conversations.findItem(call.projectId, kept.id, call.param('item'));
      if (!item) throw notFound('Item', call.param('item'));
      return storedItems.show(item, include);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteItem',
    method: 'delete',
    path: '/conversations/{id}/items/{item}',
    summary: 'Deletes an item from a conversation.',
    answer: conversation,
    async run(call) {
      const kept = await findConversation(call);
      const item = call.param('item');
      if (!(await call.deps.state.conversations.deleteItem(call.projectId, kept.id, item)))
        throw notFound('Item', item);
      return encodeConversation(kept);
    },
  }),
];

type OwnedCall = Pick<ClientCall, 'deps' | 'projectId' | 'param' | 'now'>;

async function findConversation({ deps, projectId, param, now }: OwnedCall): Promise<StoredConversation> {
  const found = await deps.state.conversations.find(projectId, param('id'), now);
  if (found) return found;
  throw notFound('Conversation', param('id'));
}

function encodeConversation(kept: StoredConversation): z.input<typeof conversation> {
  const created_at = Math.floor(kept.createdAt / 1000);
  return { id: kept.id, object: 'conversation', created_at, metadata: kept.metadata };
}

function readMetadata(body: JsonObject): Readonly<Record<string, string>> {
  const problems = new Problems();
  const decoded = decodeMetadata(body['metadata'], problems);
  problems.throwIfAny();
  return decoded ?? {};
}

/** `items` as stored: validated like the input of a request, references resolved, each with an id. */
async function readItems({
  deps,
  projectId,
  now,
  sent,
}: OwnedCall & Pick<ClientCall, 'sent'>): Promise<readonly JsonObject[]> {
  const given = asArray(sent['items']).map(asObject);
  const decoded = storedItems.decode(given, 'items');
  const resolved = await Promise.all(
    given.map(async (raw, index): Promise<JsonObject> => {
      const item = decoded[index];
      if (item?.type !== 'reference') return raw;
      const found = await deps.state.responses.findItem(projectId, item.id, now);
      if (isJsonObject(found)) return found;
      throw notFound('Item', item.id, `items[${index}].id`);
    }),
  );
  return storedItems.identify(resolved, newGenerationId(now));
}
