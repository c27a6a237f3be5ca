// How many tokens the input of a request has, with everything that it refers to. Asks no upstream and changes nothing.
import { isJsonObject } from '../canonical/index.ts';
import type { CanonicalRequest, Item, JsonObject, StateRequest } from '../canonical/index.ts';
import { namesPrompt, previousItems, promptedBody } from '../engine/index.ts';
import { countInputTokens } from '../ledger/index.ts';
import { notFound, responsesProtocol, storedItems, type StateCall } from './state-routes.ts';

/**
 * An estimate for a body of `POST /responses`, whose `model` may be absent here.
 * @throws GatewayError what the request itself would get: 400 for wrong members, 404 for unknown ids
 */
export async function countRequestTokens(body: JsonObject, call: StateCall): Promise<number> {
  const request = await withPrompt(body, call);
  const history = request.state ? await historyOf(request.state, call) : [];
  const own = await Promise.all(request.items.map((item) => dereferenced(item, call)));
  return countInputTokens({ items: [...history, ...own], tools: request.tools });
}

/** The request with its template filled in. Decoded by itself first: mistakes are named in the client's own words. */
async function withPrompt(body: JsonObject, { deps, keyId }: StateCall): Promise<CanonicalRequest> {
  const request = decode(body);
  if (!namesPrompt(body)) return request;
  const { whole } = await promptedBody(body, keyId, deps.prompts);
  return decode(whole);
}

function decode(body: JsonObject): CanonicalRequest {
  return responsesProtocol.server.decodeRequest({ ...body, model: body['model'] ?? 'any' });
}

async function historyOf(
  { previousResponseId: previous, conversationId: conversation }: StateRequest,
  { deps, keyId, now }: StateCall,
): Promise<readonly Item[]> {
  const { responses, conversations } = deps.state;
  if (previous !== undefined) {
    const items = await previousItems(previous, { responses, keyId, now });
    return storedItems.decode(items, 'previous_response_id');
  }
  if (conversation === undefined) return [];
  const items = await conversations.all(keyId, conversation, now);
  if (!items) throw notFound('Conversation', conversation, 'conversation');
  return storedItems.decode(items, 'conversation');
}

async function dereferenced(item: Item, { deps, keyId, now }: StateCall): Promise<Item> {
  if (item.type !== 'reference') return item;
  const found = await deps.state.responses.findItem(keyId, item.id, now);
  const [decoded] = isJsonObject(found) ? storedItems.decode([found], item.path ?? 'input') : [];
  if (decoded) return decoded;
  throw notFound('Item', item.id, item.path);
}
