// Stored responses over HTTP: retrieve, replay, list what led to one, delete. Makes no response: that is the engine's
// business.
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import { outputOf } from '../../engine/index.ts';
import { newId } from '../../runtime/ids.ts';
import type { StoredResponse } from '../../storage/ports.ts';
import { encodeList, pageOf, readInclude, readPage } from '../list-page.ts';
import { notFound, storedItems, type AddRoute, type StateCall } from './state-routes.ts';

/** Adds the routes. */
export function addResponsesRoutes(add: AddRoute): void {
  add('get', '/responses/:id', retrieve);
  add('delete', '/responses/:id', remove);
  add('get', '/responses/:id/input_items', listInputItems);
  add('post', '/responses/:id/cancel', cancel);
}

async function retrieve(call: StateCall): Promise<JsonObject | Response> {
  const { query } = call;
  const include = readInclude(query);
  const after = readNumber(query, 'starting_after');
  const isStream = readFlag(query, 'stream');
  if (after !== undefined && !isStream) throw wrong('starting_after', 'needs stream=true');
  const { response } = await findResponse(call);
  if (!isStream) return storedItems.showResponse(response, include);
  const context = { newId, nowSeconds: () => Math.floor(call.now / 1000) };
  const frames = storedItems.replay(response, include, context);
  const rest = after === undefined ? frames : frames.slice(after + 1);
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' };
  return new Response(rest.join(''), { headers });
}

async function remove(call: StateCall): Promise<JsonObject> {
  const { id } = await findResponse(call);
  if (!(await call.deps.state.responses.delete(call.projectId, id))) throw notFound('Response', id);
  return { id, object: 'response', deleted: true };
}

/** Everything that led to the response, as OpenAI has it ("items used to generate this response"): earlier turns too. */
async function listInputItems(call: StateCall): Promise<JsonObject> {
  const page = readPage(call.query);
  const include = readInclude(call.query);
  const stored = await findResponse(call);
  const items = uniqueById([...(await itemsBefore(call, stored)), ...stored.input]);
  const { items: data, hasMore } = pageOf(items, page);
  return encodeList(
    data.map((item) => storedItems.show(item, include)),
    hasMore,
  );
}

async function cancel(call: StateCall): Promise<JsonObject> {
  const { id } = await findResponse(call);
  throw new GatewayError(
    'invalid_request',
    `only a response that runs in the background can be cancelled, and '${id}' does not; close the connection to cancel a running one`,
  );
}

/** What stood before this turn; of an earlier part that was deleted, nothing. */
async function itemsBefore(
  { deps, projectId, now }: StateCall,
  stored: StoredResponse,
): Promise<readonly JsonObject[]> {
  const { responses, conversations } = deps.state;
  if (stored.conversationId !== null) {
    const all = (await conversations.all(projectId, stored.conversationId, now)) ?? [];
    const own = new Set([...stored.input, ...outputOf(stored.response)].map((item) => item['id']));
    const begin = all.findIndex((item) => own.has(item['id']));
    return begin === -1 ? [] : all.slice(0, begin);
  }
  if (stored.previousId === null) return [];
  const chain = (await responses.chain(projectId, stored.previousId, now)) ?? [];
  return chain.flatMap((turn) => [...turn.input, ...outputOf(turn.response)]);
}

/** A client may have sent earlier items again: a page that ends with one must be followed by what comes after it. */
function uniqueById(items: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(items.map((item) => [item['id'], item])).values()];
}

async function findResponse({ deps, projectId, id, now }: StateCall): Promise<StoredResponse> {
  const found = await deps.state.responses.find(projectId, id('id'), now);
  if (found) return found;
  throw notFound('Response', id('id'));
}

function readFlag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name) ?? 'false';
  if (value !== 'true' && value !== 'false') throw wrong(name, 'must be true or false');
  return value === 'true';
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^\d{1,9}$/.test(value)) throw wrong(name, 'must be the number of an event');
  return Number(value);
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
