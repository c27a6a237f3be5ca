// Completes a request with what the gateway keeps: earlier turns, referenced items, reasoning that was sealed or lost.
import type { CanonicalRequest, Item, JsonObject, StateRequest } from '../../canonical/index.ts';
import { GatewayError, nameResults } from '../../canonical/index.ts';
import type { StoredItems } from '../../protocols/index.ts';
import { openCompactions } from '../../state/compaction.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Generation } from '../generation.ts';
import { refuseObjects } from './named-objects.ts';
import { previousItems } from './previous-items.ts';
import { ReasoningSeal } from '../adapt/index.ts';
import { resolveFiles } from '../media/index.ts';

/** What is needed afterwards to keep the turn; null for protocols whose turns are not kept. */
export interface TurnInput {
  readonly state: StateRequest;
  /** This turn's own input, raw, each item with an id. */
  readonly items: readonly JsonObject[];
  /** What was said before. */
  readonly history: History;
}

interface History {
  /** Where the request names it. */
  readonly path: string;
  /** Raw. */
  readonly items: readonly JsonObject[];
  /** True: it is remembered for this connection alone; nothing that is stored may refer to it. */
  readonly recalled?: boolean;
}

export interface Hydrated {
  readonly request: CanonicalRequest;
  readonly turn: TurnInput | null;
  /** In front of the client's encoder; null where its protocol names every family's reasoning itself. */
  readonly seal: ReasoningSeal | null;
}

/**
 * Throws GatewayError: 404 for ids that are unknown or another key's, 409 for a conversation that is busy.
 * Takes the conversation's place for a turn: `releaseConversation` gives it back.
 */
export async function hydrate(
  request: CanonicalRequest,
  generation: Generation,
  deps: GatewayDependencies,
): Promise<Hydrated> {
  const { server } = generation.call.protocol;
  const { keyId } = generation.call.principal;
  const seal = server.nativeReasoning
    ? new ReasoningSeal(deps.reasoning, keyId, server.nativeReasoning)
    : null;
  const kept =
    request.state && server.items
      ? await addHistory(request, request.state, server.items, generation, deps)
      : null;
  let items = kept?.items ?? request.items;
  const { mayName } = generation.settings;
  refuseObjects({ ...request, items }, server, mayName);
  if (!items.every(isPlain)) {
    if (seal) items = seal.opened(items, request.report);
    items = openCompactions(items, keyId, deps.compaction);
    items = await restoreLost(items, generation, deps);
    items = await resolveFiles(items, keyId, deps.media.files, mayName, generation.call.account);
  }
  generation.rewritten = items !== request.items;
  return {
    request: items === request.items ? request : { ...request, items },
    turn: request.state && kept ? { state: request.state, items: kept.input, history: kept.history } : null,
    seal,
  };
}

/** True for a message of text alone, as most are: nothing in it can point to what the gateway keeps. */
function isPlain(item: Item): boolean {
  return item.type === 'message' && item.parts.every((part) => part.type === 'text');
}

/** Lets the next turn of the conversation begin. Never rejects. */
export async function releaseConversation(
  request: CanonicalRequest,
  generation: Generation,
  deps: GatewayDependencies,
): Promise<void> {
  const id = request.state?.conversationId;
  if (id === undefined || !generation.holdsConversation) return;
  generation.holdsConversation = false;
  await deps.state.conversations
    .endTurn(generation.call.principal.keyId, id, generation.id)
    .catch((error: unknown) =>
      deps.log.error('a conversation stays busy until its turn expires', { id, error }),
    );
}

async function addHistory(
  request: CanonicalRequest,
  state: StateRequest,
  codec: StoredItems,
  generation: Generation,
  deps: GatewayDependencies,
): Promise<{ items: readonly Item[]; input: readonly JsonObject[]; history: History }> {
  let count = 0;
  // Ids that name their generation need no entries of their own in the index of items.
  const raw = codec.identify(request.raw['input'], (prefix) => `${prefix}${generation.id}_i${count++}`);
  const history = await historyOf(state, generation, deps);
  const hasReferences = request.items.some((item) => item.type === 'reference');
  const input = hasReferences ? await resolve(raw, codec, generation, deps) : raw;
  const decoded = codec.decode(history.items, history.path);
  if (decoded.length === 0 && !hasReferences) return { items: request.items, input, history };
  // Instructions are this turn's alone and stand before everything that was said.
  const isInstruction = (item: Item): boolean => item.path?.startsWith('instructions') === true;
  const instructions = request.items.filter(isInstruction);
  const own = hasReferences
    ? codec.decode(input, 'input')
    : request.items.filter((item) => !isInstruction(item));
  return { items: nameResults([...instructions, ...decoded, ...own]), input, history };
}

async function historyOf(
  state: StateRequest,
  generation: Generation,
  deps: GatewayDependencies,
): Promise<History> {
  const { previousResponseId: previous, conversationId: conversation } = state;
  const { keyId } = generation.call.principal;
  const now = deps.clock.now();
  if (previous !== undefined) {
    const recalled = generation.call.memory?.recall(previous);
    if (recalled) return { path: 'previous_response_id', items: recalled, recalled: true };
    const { responses } = deps.state;
    const items = await previousItems(previous, { responses, keyId, now });
    return { path: 'previous_response_id', items };
  }
  if (conversation === undefined) return { path: 'input', items: [] };
  const busyUntil = generation.deadlineAt;
  const { conversations } = deps.state;
  if (!(await conversations.find(keyId, conversation, now))) {
    throw new GatewayError('not_found', `Conversation with id '${conversation.slice(0, 100)}' not found.`, {
      param: 'conversation',
    });
  }
  if (!(await conversations.beginTurn(keyId, conversation, generation.id, now, busyUntil))) {
    throw new GatewayError(
      'conflict',
      'another turn of this conversation is running; wait until it has ended',
      {
        param: 'conversation',
        code: 'conversation_locked',
      },
    );
  }
  generation.holdsConversation = true;
  return { path: 'conversation', items: (await conversations.all(keyId, conversation, now)) ?? [] };
}

/** Puts stored items in the place of references to them. */
async function resolve(
  input: readonly JsonObject[],
  codec: StoredItems,
  generation: Generation,
  deps: GatewayDependencies,
): Promise<readonly JsonObject[]> {
  const { keyId } = generation.call.principal;
  return Promise.all(
    input.map(async (item, index) => {
      const id = codec.referenceOf(item);
      if (id === undefined) return item;
      const found = await deps.state.responses.findItem(keyId, id, deps.clock.now());
      if (found) return found;
      throw new GatewayError('not_found', `Item with id '${id.slice(0, 100)}' not found.`, {
        param: `input[${index}].id`,
      });
    }),
  );
}

/** Puts back what the client lost: signed reasoning of earlier tool turns. */
async function restoreLost(
  items: readonly Item[],
  generation: Generation,
  { vault, log }: GatewayDependencies,
): Promise<readonly Item[]> {
  if (!items.some((item) => item.type === 'tool_call')) return items;
  try {
    return (await vault.restore(generation.call.principal.keyId, items)).items;
  } catch (error) {
    // Most requests can do without; the model says so if this one cannot.
    log.error('lost reasoning could not be restored', { id: generation.id, error });
    return items;
  }
}
