// What was said up to and with an earlier response, raw: for the runs of the engine, and for requests that are answered
// without one.
import { asArray, GatewayError, isJsonObject, type JsonObject } from '../../canonical/index.ts';
import type { ResponseStore } from '../../storage/ports.ts';
import type { TurnMemory } from '../call.ts';

export interface PreviousFrom {
  readonly responses: Pick<ResponseStore, 'chain'>;
  readonly projectId: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly memory?: TurnMemory | undefined;
}

/** The output items of a kept answer. */
export function outputOf(response: JsonObject): readonly JsonObject[] {
  return asArray(response['output']).filter(isJsonObject);
}

/** @throws GatewayError `not_found` for an id that is unknown or another project's */
export async function previousItems(
  responseId: string,
  { responses, projectId, now, memory }: PreviousFrom,
): Promise<readonly JsonObject[]> {
  const recalled = memory?.recall(responseId);
  if (recalled) return recalled;
  const chain = await responses.chain(projectId, responseId, now);
  if (chain) return chain.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
  throw new GatewayError('not_found', `Previous response with id '${responseId.slice(0, 100)}' not found.`, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });
}
