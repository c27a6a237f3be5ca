// Stored responses over HTTP: get, replay as a stream, list input items, delete.
import { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS, notFound } from '../../canonical/index.ts';
import { outputOf } from '../../engine/index.ts';
import { anyObject, eventStream, keepingProtocol, listShape } from '../../protocols/index.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { StoredResponse } from '../../accounts/ports/index.ts';
import { followStream } from './kept-streams.ts';
import {
  deletedShape,
  encodeList,
  eventNumber,
  INCLUDE,
  pageOf,
  pageQuery,
  readInclude,
} from '../list-page.ts';
import { type ClientCall, clientRoute, type ClientRoute } from './client-route.ts';
import { generationOf } from '../../base/runtime/ids.ts';
import { storedItems } from './state-routes.ts';

const responseShape = keepingProtocol.server.items.shape;

const ofOne = {
  tag: 'Responses',
  params: { id: { description: 'The id of the response.' } },
  refusals: [404],
} as const;

export const RESPONSE_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'retrieveResponse',
    method: 'get',
    path: '/responses/{id}',
    summary: 'Returns a stored response, whole or as events.',
    query: z.object({
      stream: z.enum(['true', 'false'], TEXTS.mustBeBoolean).optional(),
      starting_after: eventNumber,
      ...INCLUDE,
    }),
    answer: responseShape,
    alsoAs: { 'text/event-stream': eventStream },
    alsoStatus: { 204: null },
    refusals: [404, 410],
    run: retrieve,
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteResponse',
    method: 'delete',
    path: '/responses/{id}',
    summary: 'Deletes a response.',
    answer: deletedShape,
    async run(call) {
      const { deps, projectId } = call;
      const id = call.param('id');
      const wasMade = await deps.background.delete(projectId, id);
      if (!wasMade) await findResponse(call);
      if (!(await deps.state.responses.delete(projectId, id)) && !wasMade) throw notFound('Response', id);
      deps.streams.delete(projectId, generationOf(id));
      deps.remoteStreams?.delete(projectId, generationOf(id));
      return { id, object: 'response', deleted: true as const };
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listInputItems',
    method: 'get',
    path: '/responses/{id}/input_items',
    summary: 'Lists the input items of a response.',
    query: z.object({ ...pageQuery(), ...INCLUDE }),
    answer: listShape(anyObject),
    // "Items used to generate this response" (OpenAI's reference) include those of earlier turns.
    async run(call) {
      const include = readInclude(call.search);
      const stored = await findResponse(call);
      const all = uniqueById([...(await itemsBefore(call, stored)), ...stored.input]);
      const { items, hasMore } = pageOf(all, call.query);
      return encodeList(
        items.map((item) => storedItems.show(item, include)),
        hasMore,
      );
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'cancelResponse',
    method: 'post',
    path: '/responses/{id}/cancel',
    summary: 'Cancels a background response.',
    answer: responseShape,
    async run(call) {
      const id = call.param('id');
      const isCancelled = await call.deps.background.cancel(call.projectId, id);
      const { response } = await findResponse(call);
      if (isCancelled) return Response.json(response);
      throw new GatewayError(
        'invalid_request',
        `Only background responses can be cancelled, and '${id}' is not one. To cancel any other response, close its connection.`,
      );
    },
  }),
];

interface RetrieveCall extends Omit<ClientCall, 'query'> {
  readonly query: { readonly stream?: string | undefined; readonly starting_after?: number | undefined };
}

async function retrieve(call: RetrieveCall): Promise<Response> {
  const include = readInclude(call.search);
  const { starting_after: after, stream } = call.query;
  const isStream = stream === 'true';
  if (after !== undefined && !isStream)
    throw new GatewayError('invalid_request', 'starting_after: requires stream=true', {
      param: 'starting_after',
    });
  // A stream replayed from the start contains the requested members.
  if (isStream && (after !== undefined || !call.search.has('include[]'))) {
    const id = call.param('id');
    const stored = await call.deps.state.responses.find(call.projectId, id, call.now);
    const ids = { id: generationOf(id), jobId: id };
    const live = await followStream(
      call,
      ids,
      { after: after ?? null, param: 'starting_after' },
      stored !== null,
    );
    if (live) return live;
  }
  const { response } = await findResponse(call);
  if (!isStream) return Response.json(storedItems.showResponse(response, include));
  const context = { newId, nowSeconds: () => Math.floor(call.now / 1000) };
  const { openHeader } = keepingProtocol.server;
  const isNamed = openHeader !== undefined && call.request.headers.has(openHeader);
  const words = { readsOpenWords: isNamed || call.deps.readsOpenWords() };
  const frames = storedItems.replay(response, include, context, words);
  const rest = after === undefined ? frames : frames.slice(after + 1);
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' };
  return new Response(rest.join(''), { headers });
}

/** Items before this turn. Empty if an earlier response was deleted. */
async function itemsBefore(
  { deps, projectId, now }: Pick<ClientCall, 'deps' | 'projectId' | 'now'>,
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

/** Clients may have sent earlier items again, and `after` must identify a single position. */
function uniqueById(items: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(items.map((item) => [item['id'], item])).values()];
}

async function findResponse({
  deps,
  projectId,
  param,
  now,
}: Pick<ClientCall, 'deps' | 'projectId' | 'param' | 'now'>): Promise<StoredResponse> {
  const found = await deps.state.responses.find(projectId, param('id'), now);
  // Turns of other protocols' threads are stored beside responses.
  if (found?.response['object'] === 'response') return found;
  const made = found ? null : await deps.background.find(projectId, param('id'));
  if (made) return made;
  throw notFound('Response', param('id'));
}
