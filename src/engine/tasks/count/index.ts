// Count task: the input tokens of a request without answering it. Nothing is recorded, limited or charged.
import { newGenerationId } from '../../../base/runtime/ids.ts';
import { COUNT_CODECS } from '../../../protocols/tasks/count/codecs.ts';
import { headerText } from '../../answer/index.ts';
import type { ApiCall } from '../../call.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import type { Task } from '../task.ts';
import { completeCounted } from './complete-counted.ts';
import { COUNT, countInput } from './count-input.ts';

/** Marks an estimate, because the model's own tokenizer may count differently. */
const ESTIMATED = { 'x-dragoman-estimated': 'true' } as const;

export const count: Task = {
  name: COUNT,
  isRecorded: false,
  clients: COUNT_CODECS.flatMap(({ protocol, client }) =>
    client ? { protocol, routes: client.routes } : [],
  ),
  answer: (call, { deps, unrecorded }) => unrecorded(() => answer(call, deps)),
};

/**
 * @throws GatewayError with which the request itself would be refused: 400 for invalid members, 404 for unknown ids;
 * nothing was sent
 */
async function answer(call: ApiCall, deps: GatewayDependencies): Promise<void> {
  const { protocol, json, route } = call;
  const client = COUNT_CODECS.find((codec) => codec.protocol === protocol.name)?.client;
  if (!client) throw new TypeError(`${protocol.name} has no operation that counts tokens`);
  // Requests of this protocol may refer to stored items.
  const request = protocol.server.items
    ? await completeCounted(call, client, deps)
    : client.decodeRequest(json, route);
  const { tokens, by, own } = await countInput(deps, call, request);
  const about = by
    ? { 'x-dragoman-provider': headerText(by.provider), 'x-dragoman-model': headerText(by.modelId) }
    : ESTIMATED;
  const id = newGenerationId(deps.clock.wall());
  const ids = { 'x-request-id': id, 'request-id': id };
  const headers = { 'content-type': 'application/json', ...ids, ...about };
  // Details such as tokens of each modality, or before context edits.
  call.client.respond(200, headers, JSON.stringify({ ...client.encodeCount(tokens), ...own }));
}
