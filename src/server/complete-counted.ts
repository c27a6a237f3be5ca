// A request whose tokens are to be counted, with everything that it refers to. Asks no upstream and changes nothing.
import { isJsonObject } from '../canonical/index.ts';
import type { CanonicalRequest, Item, StateRequest } from '../canonical/index.ts';
import { type ApiCall, namesPrompt, previousItems, promptedBody } from '../engine/index.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { notFound, storedItems, type StateDependencies } from './routes/state-routes.ts';

export type CountState = Pick<StateDependencies, 'state' | 'prompts' | 'now'>;

interface Asking extends CountState {
  readonly projectId: string;
}

/** @throws GatewayError 400 for wrong members, 404 for unknown ids */
export async function completeCounted(call: ApiCall, deps: CountState): Promise<CanonicalRequest> {
  const asking = { ...deps, projectId: call.principal.projectId };
  const request = await withPrompt(call.json, asking);
  const history = request.state ? await historyOf(request.state, asking) : [];
  const own = await Promise.all(request.items.map((item) => dereferenced(item, asking)));
  // Instructions are this turn's alone and stand before everything that was said.
  const isInstruction = (item: Item): boolean => item.path?.startsWith('instructions') === true;
  const said = own.filter((item) => !isInstruction(item));
  return { ...request, items: [...own.filter(isInstruction), ...history, ...said] };
}

/** The request with its template filled in. Decoded by itself first: mistakes are named in the client's own words. */
async function withPrompt(body: unknown, { prompts, projectId }: Asking): Promise<CanonicalRequest> {
  const request = decode(body);
  if (!namesPrompt(body)) return request;
  const { whole } = await promptedBody(body, projectId, prompts);
  return decode(whole);
}

function decode(body: unknown): CanonicalRequest {
  const { counting } = keepingProtocol.server;
  if (!counting) throw new TypeError('the Responses protocol counts nothing');
  return counting.decodeRequest(body);
}

async function historyOf(
  { previousResponseId: previous, conversationId: conversation }: StateRequest,
  { state: { responses, conversations }, projectId, now }: Asking,
): Promise<readonly Item[]> {
  if (previous !== undefined) {
    const items = await previousItems(previous, { responses, projectId, now: now() });
    return storedItems.decode(items, 'previous_response_id');
  }
  if (conversation === undefined) return [];
  const items = await conversations.all(projectId, conversation, now());
  if (!items) throw notFound('Conversation', conversation, 'conversation');
  return storedItems.decode(items, 'conversation');
}

async function dereferenced(item: Item, { state, projectId, now }: Asking): Promise<Item> {
  if (item.type !== 'reference') return item;
  const found = await state.responses.findItem(projectId, item.id, now());
  const [decoded] = isJsonObject(found) ? storedItems.decode([found], item.path ?? 'input') : [];
  if (decoded) return decoded;
  throw notFound('Item', item.id, item.path);
}
