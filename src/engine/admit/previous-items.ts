// Raw items up to and including an earlier response, for runs of the engine and for requests that need no run.
import { asArray, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { ResponseStore } from '../../accounts/ports/index.ts';
import type { TurnMemory } from '../call.ts';
import type { UnixMs } from '../../base/units.ts';

export interface PreviousFrom {
  readonly responses: Pick<ResponseStore, 'chain'>;
  readonly projectId: string;
  readonly now: UnixMs;
  readonly memory?: TurnMemory | undefined;
}

/** The output items of a stored response. */
export function outputOf(response: JsonObject): readonly JsonObject[] {
  return asArray(response['output']).filter(isJsonObject);
}

/**
 * Items of all responses up to an earlier one.
 * @throws GatewayError `invalid_request` for an id that is unknown or belongs to another project. OpenAI responds
 * with 400 and this code (guide "WebSocket mode", 2026-11); clients then start a new chain.
 */
export async function previousItems(
  responseId: string,
  { responses, projectId, now, memory }: PreviousFrom,
): Promise<readonly JsonObject[]> {
  const recalled = memory?.recall(responseId);
  if (recalled) return recalled;
  const chain = await responses.chain(projectId, responseId, now);
  if (chain) return chain.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
  throw new GatewayError('invalid_request', TEXTS.notFound('Previous response', responseId), {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });
}
