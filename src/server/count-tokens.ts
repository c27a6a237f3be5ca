// Answers the operations that count the input tokens of a request, in the client's protocol.
import type { CanonicalRequest } from '../canonical/index.ts';
import type { ApiCall, Gateway } from '../engine/index.ts';
import { headerText } from '../engine/index.ts';
import type { CountServer } from '../protocols/index.ts';
import { newGenerationId } from '../runtime/ids.ts';
import { completeCounted, type CountState } from './complete-counted.ts';
import { requestIds } from './reply.ts';

/** Says that no upstream was asked: the model's own tokenizer may count otherwise. */
const ESTIMATED = { 'x-dragoman-estimated': 'true' } as const;

export interface CountDependencies {
  readonly gateway: Gateway;
  readonly now: () => number;
}

/** Answers a call of a protocol that has such an operation. @throws GatewayError where nothing was sent to the client */
export function countTokens(deps: CountDependencies, call: ApiCall): Promise<void> {
  const { protocol, json, route } = call;
  return answer(deps, call, countServer(protocol).decodeRequest(json, route));
}

/**
 * The same for a request that may refer to what is stored. @throws GatewayError what the request itself would get: 400
 * for wrong members, 404 for unknown ids
 */
export async function countStored(deps: CountDependencies & CountState, call: ApiCall): Promise<void> {
  await answer(deps, call, await completeCounted(call, deps));
}

async function answer(
  { gateway, now }: CountDependencies,
  call: ApiCall,
  request: CanonicalRequest,
): Promise<void> {
  const { tokens, by } = await gateway.count(call, request);
  const about = by
    ? { 'x-dragoman-provider': headerText(by.provider), 'x-dragoman-model': headerText(by.modelId) }
    : ESTIMATED;
  const headers = { 'content-type': 'application/json', ...requestIds(newGenerationId(now())), ...about };
  call.client.respond(200, headers, JSON.stringify(countServer(call.protocol).encodeCount(tokens)), 'text');
}

/** How clients of a protocol ask for a count. */
function countServer({ name, server }: ApiCall['protocol']): CountServer {
  if (!server.counting) throw new TypeError(`${name} has no operation that counts`);
  return server.counting;
}
