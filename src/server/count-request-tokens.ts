// How many tokens the input of a request has, with everything that it refers to. Asks no upstream and changes nothing.
import { asObject, isJsonObject } from '../canonical/index.ts';
import type { CanonicalRequest, Item, JsonObject, StateRequest } from '../canonical/index.ts';
import { previousItems } from '../engine/index.ts';
import { countInputTokens } from '../ledger/index.ts';
import { renderPrompt } from '../state/prompt-library.ts';
import { notFound, responsesProtocol, storedItems, type StateCall } from './state-routes.ts';

/**
 * An estimate for a body of `POST /responses`, whose `model` may be absent here.
 * @throws GatewayError what the request itself would get: 400 for wrong members, 404 for unknown ids
 */
export async function countRequestTokens(body: JsonObject, call: StateCall): Promise<number> {
  const { request, prompt } = await withPrompt(body, call);
  const history = request.state ? await historyOf(request.state, call) : [];
  const own = await Promise.all(request.items.map((item) => dereferenced(item, call)));
  return countInputTokens({ items: [...prompt, ...history, ...own], tools: request.tools });
}

/** The request with what its template says instead of it, and the template's messages. */
async function withPrompt(
  body: JsonObject,
  { deps, keyId }: StateCall,
): Promise<{ request: CanonicalRequest; prompt: readonly Item[] }> {
  const request = decode(body);
  const asked = request.state?.prompt;
  if (!asked) return { request, prompt: [] };
  const variables = asObject(asObject(body['prompt'])['variables']);
  const { instructions, input, defaults } = await renderPrompt(deps.prompts, keyId, asked, variables);
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  return {
    request: decode({ instructions, ...defaults, ...said }),
    prompt: storedItems.decode(input, 'prompt'),
  };
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
