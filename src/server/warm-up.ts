// A turn that generates nothing: validates and remembers the request, and returns an id to continue from (OpenAI guide
// "WebSocket mode": `generate: false`, 2026-11). No model is called and nothing is recorded.
import { asArray, asObject } from '../base/json/index.ts';
import { previousItems, type ApiCall, type TurnMemory } from '../engine/index.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { makeResponse, sendResponse } from './made-response.ts';
import { storedItems, type StateDependencies } from './routes/state-routes.ts';

/** Answers the call. @throws GatewayError with which the request itself would be refused as invalid */
export async function warmUp(
  { state, now: clock }: Pick<StateDependencies, 'state' | 'now'>,
  { json, client, principal, memory }: ApiCall & { readonly memory: TurnMemory },
): Promise<void> {
  const now = clock();
  const body = asObject(json);
  // Codex sends only its instructions and tools.
  const isEmpty = Array.isArray(body['input']) && asArray(body['input']).length === 0;
  const request = keepingProtocol.server.decodeRequest(isEmpty ? { ...body, input: '' } : body);
  const previous = request.state?.previousResponseId;
  const { projectId } = principal;
  const from = { responses: state.responses, projectId, now, memory };
  const before = previous === undefined ? [] : await previousItems(previous, from);
  const seconds = Math.floor(now / 1000);
  const id = newGenerationId(now);
  const facts = { id, model: request.model, createdSeconds: seconds, completedSeconds: seconds };
  const response = makeResponse(request, facts, []);
  const own = storedItems.identify(request.raw['input'], id);
  memory.remember(String(response['id']), [...before, ...own]);
  sendResponse(client, response, true, {});
}
