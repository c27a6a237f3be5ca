// Answers the operations that count the input tokens of a request, in the client's protocol.
import type { ApiCall, Gateway } from '../engine/index.ts';
import { headerText } from '../engine/index.ts';
import { newGenerationId } from '../runtime/ids.ts';
import { requestIds } from './reply.ts';

/** Says that no upstream was asked: the model's own tokenizer may count otherwise. */
export const ESTIMATED = { 'x-dragoman-estimated': 'true' } as const;

export interface CountDependencies {
  readonly gateway: Gateway;
  readonly now: () => number;
}

/** Answers a call of a protocol that has such an operation. @throws GatewayError where nothing was sent to the client */
export async function countTokens({ gateway, now }: CountDependencies, call: ApiCall): Promise<void> {
  const { tokens, by } = await gateway.count(call);
  const about = by
    ? { 'x-dragoman-provider': headerText(by.provider), 'x-dragoman-model': headerText(by.modelId) }
    : ESTIMATED;
  const headers = { 'content-type': 'application/json', ...requestIds(newGenerationId(now())), ...about };
  const { counting } = call.protocol;
  call.client.respond(200, headers, JSON.stringify(counting?.encodeCount(tokens)), 'text');
}
