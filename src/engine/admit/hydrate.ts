// Completes a request with stored data: earlier turns, referenced items, and reasoning that was sealed or lost.
import type { JsonObject } from '../../base/json/index.ts';
import {
  areTexts,
  type CanonicalRequest,
  GatewayError,
  isAssistantItem,
  type Item,
  nameResults,
  type StateRequest,
  notFound,
} from '../../canonical/index.ts';
import { type Endpoint, endpointsFor } from '../../catalog/index.ts';
import type { NamedObject, ServerCodec, StoredItems } from '../../protocols/index.ts';
import { openCompactions } from '../state/compaction.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Arrival } from '../call.ts';
import { ConversationTurn } from './conversation-turn.ts';
import type { AcquiredResources } from './admit.ts';
import { previousItems } from './previous-items.ts';
import { effectiveWishes } from '../routing/index.ts';
import { mayHideEnd, ReasoningSeal } from '../adapt/index.ts';
import { filesOfAccounts, resolveFiles } from '../media/index.ts';

/** Input for storing the turn later. Null: turns of this protocol are not stored. */
export interface TurnInput {
  readonly state: StateRequest;
  /** This turn's own input items, raw, each with an id. */
  readonly items: readonly JsonObject[];
  /** Earlier turns. */
  readonly history: History;
}

interface History {
  /** JSON path at which the request refers to it. */
  readonly path: string;
  /** Raw. */
  readonly items: readonly JsonObject[];
  /** True: remembered only for this connection, so nothing that is stored may refer to it. */
  readonly recalled?: boolean;
}

export interface Hydrated {
  readonly request: CanonicalRequest;
  readonly turn: TurnInput | null;
  /** Precedes the client's encoder. Null: its protocol can carry reasoning of every family. */
  readonly seal: ReasoningSeal | null;
}

/**
 * Completes a request.
 * @param resources receives the lock of the request's conversation
 * @throws GatewayError: 404 for ids that are unknown or belong to another project, 409 for a busy conversation
 */
export async function hydrate(
  request: CanonicalRequest,
  arrival: Arrival,
  deps: GatewayDependencies,
  resources: AcquiredResources,
): Promise<Hydrated> {
  const { call, settings } = arrival;
  const { server } = call.protocol;
  const { projectId } = call.principal;
  const seal = server.nativeReasoning
    ? new ReasoningSeal(deps.reasoning, projectId, server.nativeReasoning)
    : null;
  const kept =
    request.state && server.items
      ? await addHistory(request, request.state, server.items, arrival, deps, resources)
      : null;
  let items = kept?.items ?? request.items;
  const { mayName } = settings;
  refuseObjects(items === request.items ? request : { ...request, items }, server, mayName);
  const lacksEnds = mayLackEnds(items, request, arrival);
  // Text items cannot refer to stored data.
  if (!areTexts(items) || lacksEnds) {
    if (seal) items = seal.opened(items, request.report);
    items = openCompactions(items, projectId, deps.compaction);
    items = await restoreLost(items, lacksEnds, request, arrival, deps);
    items = await resolveFiles(items, projectId, deps.media.files, mayName, call.account);
  }
  return {
    request: items === request.items ? request : { ...request, items },
    turn: request.state && kept ? { state: request.state, items: kept.input, history: kept.history } : null,
    seal,
  };
}

async function addHistory(
  request: CanonicalRequest,
  state: StateRequest,
  codec: StoredItems,
  arrival: Arrival,
  deps: GatewayDependencies,
  resources: AcquiredResources,
): Promise<{ items: readonly Item[]; input: readonly JsonObject[]; history: History }> {
  const raw = codec.identify(request.raw['input'], arrival.id);
  const history = await historyOf(state, arrival, deps, resources);
  const hasReferences = request.items.some((item) => item.type === 'reference');
  const input = hasReferences ? await resolve(raw, codec, arrival, deps) : raw;
  const decoded = codec.decode(history.items, history.path);
  if (decoded.length === 0 && !hasReferences) return { items: request.items, input, history };
  // Instructions apply only to this turn and precede the whole conversation.
  const isInstruction = (item: Item): boolean => item.path?.startsWith('instructions') === true;
  const instructions = request.items.filter(isInstruction);
  const own = hasReferences
    ? codec.decode(input, 'input')
    : request.items.filter((item) => !isInstruction(item));
  return { items: nameResults([...instructions, ...decoded, ...own]), input, history };
}

async function historyOf(
  state: StateRequest,
  arrival: Arrival,
  deps: GatewayDependencies,
  resources: AcquiredResources,
): Promise<History> {
  const { previousResponseId: previous, conversationId: conversation } = state;
  const { call } = arrival;
  const { projectId } = call.principal;
  const now = deps.clock.wall();
  if (previous !== undefined) {
    const recalled = call.memory?.recall(previous);
    if (recalled) return { path: 'previous_response_id', items: recalled, recalled: true };
    const { responses } = deps.state;
    const items = await previousItems(previous, { responses, projectId, now });
    return { path: 'previous_response_id', items };
  }
  if (conversation === undefined) return { path: 'input', items: [] };
  const { conversations } = deps.state;
  if (!(await conversations.find(projectId, conversation, now))) {
    throw notFound('Conversation', conversation, 'conversation');
  }
  resources.take(await ConversationTurn.begin(projectId, conversation, arrival.id, deps));
  return { path: 'conversation', items: (await conversations.all(projectId, conversation, now)) ?? [] };
}

/** Replaces references by the stored items. */
async function resolve(
  input: readonly JsonObject[],
  codec: StoredItems,
  { call }: Arrival,
  deps: GatewayDependencies,
): Promise<readonly JsonObject[]> {
  const { projectId } = call.principal;
  return Promise.all(
    input.map(async (item, index) => {
      const id = codec.referenceOf(item);
      if (id === undefined) return item;
      const found = await deps.state.responses.findItem(projectId, id, deps.clock.wall());
      if (found) return found;
      throw notFound('Item', id, `input[${index}].id`);
    }),
  );
}

/** True when an earlier answer may have ended in reasoning that was withheld from the client. */
function mayLackEnds(items: readonly Item[], request: CanonicalRequest, arrival: Arrival): boolean {
  const { server } = arrival.call.protocol;
  if (!server.endsInAnswer || !items.some(isAssistantItem)) return false;
  return mayBeServedBy(request, arrival, (endpoint) => mayHideEnd(server, endpoint));
}

/** True when an endpoint that may serve the request fulfils a condition, or when these endpoints are not yet known. */
function mayBeServedBy(
  request: CanonicalRequest,
  { call, settings }: Arrival,
  fulfils: (endpoint: Endpoint) => boolean,
): boolean {
  const { model, gateway } = request;
  if (gateway.models || gateway.modelRouting) return true;
  const { fallback } = effectiveWishes(
    gateway.routing,
    call.principal.routing,
    settings.config.routing.defaults,
  );
  // May name other models.
  if (typeof fallback === 'object') return true;
  // `dragoman/auto` is not in the catalog, and can be any model.
  const named = settings.catalog.find(model);
  return named === null || endpointsFor(named, request).some(fulfils);
}

/** Restores signed reasoning of earlier turns that the client lost, if an endpoint may read it. */
async function restoreLost(
  items: readonly Item[],
  lacksEnds: boolean,
  request: CanonicalRequest,
  arrival: Arrival,
  { vault, log }: GatewayDependencies,
): Promise<readonly Item[]> {
  const mayLackReasoning = lacksEnds || items.some((item) => item.type === 'tool_call');
  if (!mayLackReasoning || !mayBeServedBy(request, arrival, readsReasoning)) return items;
  const { id, call } = arrival;
  try {
    return (await vault.restore(call.principal.projectId, items, lacksEnds)).items;
  } catch (error) {
    // Most requests work without it. If this one does not, the model returns an error.
    log.error('missing reasoning could not be restored', { id, error });
    return items;
  }
}

/** True when reasoning of earlier turns is sent to an endpoint at all. */
function readsReasoning({ reasoningFormat, quirks }: Endpoint): boolean {
  return reasoningFormat !== null || quirks.reasoningReplay !== 'none';
}

// Objects in the operator's vendor accounts that a request names. All clients share an account, so only objects that
// the operator shares explicitly are accessible.

/**
 * Refuses objects that a request must not name.
 * @param mayName true: the operator shares the object
 * @throws GatewayError `not_found`, whether or not the object exists
 */
export function refuseObjects(
  request: CanonicalRequest,
  server: Pick<ServerCodec, 'namedObjects'>,
  mayName: (id: string) => boolean,
): void {
  const { items } = request;
  refuse(server.namedObjects(request), mayName);
  if (!areTexts(items)) refuse(filesOfAccounts(items), mayName);
}

function refuse(objects: readonly NamedObject[], mayName: (id: string) => boolean): void {
  for (const { id, path } of objects) {
    if (mayName(id)) continue;
    const message = `${path}: '${id.slice(0, 100)}' not found. Objects of the vendor's account are available only if \`vendor_objects\` shares them.`;
    throw new GatewayError('not_found', message, { param: path });
  }
}
