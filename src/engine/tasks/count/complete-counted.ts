// Completes a request whose tokens are counted with everything that it refers to. Calls no upstream and changes
// nothing.
import { isJsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Item, type StateRequest, notFound } from '../../../canonical/index.ts';
import { keepingProtocol } from '../../../protocols/index.ts';
import type { CountClient } from '../../../protocols/tasks/count/codec.ts';
import { namesPrompt, previousItems, promptedBody } from '../../admit/index.ts';
import type { ApiCall } from '../../call.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import type { UnixMs } from '../../../base/units.ts';

const storedItems = keepingProtocol.server.items;

interface Asking extends Pick<GatewayDependencies, 'state' | 'prompts'> {
  readonly client: CountClient;
  readonly projectId: string;
  readonly now: UnixMs;
}

/** @throws GatewayError 400 for invalid members, 404 for unknown ids */
export async function completeCounted(
  call: ApiCall,
  client: CountClient,
  { state, prompts, clock }: Pick<GatewayDependencies, 'state' | 'prompts' | 'clock'>,
): Promise<CanonicalRequest> {
  const asking = { state, prompts, client, projectId: call.principal.projectId, now: clock.wall() };
  const request = await withPrompt(call.json, asking);
  const history = request.state ? await historyOf(request.state, asking) : [];
  const own = await Promise.all(request.items.map((item) => dereferenced(item, asking)));
  // Instructions apply only to this turn and precede the whole conversation.
  const isInstruction = (item: Item): boolean => item.path?.startsWith('instructions') === true;
  const said = own.filter((item) => !isInstruction(item));
  return { ...request, items: [...own.filter(isInstruction), ...history, ...said] };
}

/**
 * Fills in the request's template. Decoded separately first, so that errors name positions in the client's own body.
 */
async function withPrompt(body: unknown, { client, prompts, projectId }: Asking): Promise<CanonicalRequest> {
  const request = client.decodeRequest(body);
  if (!namesPrompt(body)) return request;
  const { whole } = await promptedBody(body, projectId, prompts);
  return client.decodeRequest(whole);
}

async function historyOf(
  { previousResponseId: previous, conversationId: conversation }: StateRequest,
  { state: { responses, conversations }, projectId, now }: Asking,
): Promise<readonly Item[]> {
  if (previous !== undefined) {
    const items = await previousItems(previous, { responses, projectId, now });
    return storedItems.decode(items, 'previous_response_id');
  }
  if (conversation === undefined) return [];
  const items = await conversations.all(projectId, conversation, now);
  if (!items) throw notFound('Conversation', conversation, 'conversation');
  return storedItems.decode(items, 'conversation');
}

async function dereferenced(item: Item, { state, projectId, now }: Asking): Promise<Item> {
  if (item.type !== 'reference') return item;
  const found = await state.responses.findItem(projectId, item.id, now);
  const [decoded] = isJsonObject(found) ? storedItems.decode([found], item.path ?? 'input') : [];
  if (decoded) return decoded;
  throw notFound('Item', item.id, item.path);
}
