// Conversations over HTTP: lists of items that clients keep here and that responses are appended to. Owns their shapes;
// what a turn does with a conversation is the engine's business.
import { GatewayError, isJsonObject, Problems, type JsonObject } from '../../canonical/index.ts';
import { decodeMetadata } from '../../protocols/index.ts';
import { newId } from '../../runtime/ids.ts';
import type { StoredConversation } from '../../storage/ports.ts';
import { encodeList, readInclude, readPage } from '../list-page.ts';
import { notFound, storedItems, type AddRoute, type StateCall } from './state-routes.ts';

/** OpenAI API reference, "Create a conversation": `items`. */
const MAX_ITEMS = 20;

/** Adds the routes. */
export function addConversationsRoutes(add: AddRoute): void {
  add('post', '/conversations', create);
  add('get', '/conversations/:id', async (call) => encodeConversation(await findConversation(call)));
  add('post', '/conversations/:id', update);
  add('delete', '/conversations/:id', remove);
  add('get', '/conversations/:id/items', listItems);
  add('post', '/conversations/:id/items', addItems);
  add('get', '/conversations/:id/items/:item', retrieveItem);
  add('delete', '/conversations/:id/items/:item', removeItem);
}

async function create(call: StateCall): Promise<JsonObject> {
  const body = await call.body('optional');
  const metadata = readMetadata(body);
  const items = await readItems(body, call);
  // Like OpenAI's, conversations do not expire: what goes on for years must not lose its beginning. Quotas bound them.
  const conversation: StoredConversation = {
    id: newId('conv_'),
    projectId: call.projectId,
    createdAt: call.now,
    expiresAt: null,
    metadata,
  };
  await call.deps.state.conversations.create(conversation, items);
  return encodeConversation(conversation);
}

async function update(call: StateCall): Promise<JsonObject> {
  const body = await call.body();
  if (body['metadata'] === undefined)
    throw new GatewayError('invalid_request', 'metadata: is required', { param: 'metadata' });
  const metadata = readMetadata(body);
  const { id } = await findConversation(call);
  const updated = await call.deps.state.conversations.setMetadata(call.projectId, id, metadata);
  if (!updated) throw notFound('Conversation', id);
  return encodeConversation(updated);
}

async function remove(call: StateCall): Promise<JsonObject> {
  const { id } = await findConversation(call);
  if (!(await call.deps.state.conversations.delete(call.projectId, id))) throw notFound('Conversation', id);
  return { id, object: 'conversation.deleted', deleted: true };
}

async function listItems(call: StateCall): Promise<JsonObject> {
  const page = readPage(call.query);
  const include = readInclude(call.query);
  const { id } = await findConversation(call);
  const found = await call.deps.state.conversations.items(call.projectId, id, page);
  if (!found) throw notFound('Conversation', id);
  return encodeList(
    found.items.map((item) => storedItems.show(item, include)),
    found.hasMore,
  );
}

async function addItems(call: StateCall): Promise<JsonObject> {
  const include = readInclude(call.query);
  const body = await call.body();
  if (body['items'] === undefined || body['items'] === null)
    throw new GatewayError('invalid_request', 'items: is required', { param: 'items' });
  const { id } = await findConversation(call);
  const items = await readItems(body, call);
  if (!(await call.deps.state.conversations.append(call.projectId, id, items)))
    throw notFound('Conversation', id);
  return encodeList(
    items.map((item) => storedItems.show(item, include)),
    false,
  );
}

async function retrieveItem(call: StateCall): Promise<JsonObject> {
  const include = readInclude(call.query);
  const { id } = await findConversation(call);
  const item = await call.deps.state.conversations.findItem(call.projectId, id, call.id('item'));
  if (!item) throw notFound('Item', call.id('item'));
  return storedItems.show(item, include);
}

async function removeItem(call: StateCall): Promise<JsonObject> {
  const conversation = await findConversation(call);
  const item = call.id('item');
  if (!(await call.deps.state.conversations.deleteItem(call.projectId, conversation.id, item)))
    throw notFound('Item', item);
  return encodeConversation(conversation);
}

async function findConversation({ deps, projectId, id, now }: StateCall): Promise<StoredConversation> {
  const found = await deps.state.conversations.find(projectId, id('id'), now);
  if (found) return found;
  throw notFound('Conversation', id('id'));
}

function encodeConversation({ id, createdAt, metadata }: StoredConversation): JsonObject {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
}

function readMetadata(body: JsonObject): Readonly<Record<string, string>> {
  const problems = new Problems();
  const metadata = decodeMetadata(body['metadata'], problems);
  problems.throwIfAny();
  return metadata ?? {};
}

/** `items` as they are kept: checked like the input of a request, references replaced, each with an id. */
async function readItems(body: JsonObject, call: StateCall): Promise<readonly JsonObject[]> {
  const { items } = body;
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items))
    throw new GatewayError('invalid_request', 'items: must be an array of items', { param: 'items' });
  if (items.length > MAX_ITEMS)
    throw new GatewayError('invalid_request', `items: at most ${MAX_ITEMS} at a time`, { param: 'items' });
  const decoded = storedItems.decode(items as readonly JsonObject[], 'items');
  const resolved = await Promise.all(
    items.map(async (raw, index): Promise<JsonObject> => {
      const item = decoded[index];
      if (item?.type !== 'reference') return raw as JsonObject;
      const found = await call.deps.state.responses.findItem(call.projectId, item.id, call.now);
      if (isJsonObject(found)) return found;
      throw notFound('Item', item.id, `items[${index}].id`);
    }),
  );
  return storedItems.identify(resolved, newId);
}
