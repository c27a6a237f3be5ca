// Requests that belong to a thread: the call receives the whole conversation, and the request says what to store of
// the turn. Later stages need no knowledge of threads.
import { asObject, bytesOfJson, jsonBytes, type JsonObject } from '../../base/json/index.ts';
import { type CanonicalRequest, GatewayError, type ThreadTurn } from '../../canonical/index.ts';
import type { KeptThreadTurn, ThreadCodec } from '../../protocols/index.ts';
import type { StoredResponse } from '../../accounts/ports/index.ts';
import type { ApiCall } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';

/**
 * Decodes a call that belongs to a thread.
 * @param body of the call
 * @throws GatewayError naming every offending field; the protocol's own error for an id that is unknown, expired or
 * belongs to another project
 */
export async function decodeThreaded(
  call: ApiCall,
  body: JsonObject,
  { turn, codec }: { readonly turn: ThreadTurn; readonly codec: ThreadCodec },
  { state, clock }: Pick<GatewayDependencies, 'state' | 'clock'>,
): Promise<CanonicalRequest> {
  const { protocol, principal, route } = call;
  const { previousId } = turn;
  if (previousId === undefined) return { ...protocol.server.decodeRequest(body, route), thread: turn };
  const chain = await state.responses.chain(principal.projectId, previousId, clock.wall());
  const turns = chain?.map(keptTurn) ?? [];
  if (turns.length === 0 || !turns.every((each) => each !== null)) throw codec.unknown(previousId);
  const whole = codec.join(body, turns);
  const request = decodeWhole(call, whole, lengthOf(whole) - lengthOf(body));
  const bytes = bytesOfJson(whole);
  call.account.add(bytes.length - call.body.bytes.length);
  call.body = jsonBytes(bytes);
  call.json = whole;
  return { ...request, thread: turn };
}

/** A turn in the form of `StoredResponse.response`. */
export function storedTurn(id: string, { fixed }: ThreadTurn, answer: JsonObject): JsonObject {
  return { id, object: 'thread.turn', fixed, answer };
}

/** Null: the response is not a thread turn. */
function keptTurn({ response, input }: StoredResponse): KeptThreadTurn | null {
  if (response['object'] !== 'thread.turn') return null;
  return { messages: input, fixed: asObject(response['fixed']), answer: asObject(response['answer']) };
}

/**
 * Errors name positions in the body that the client sent.
 * @param before number of messages prepended to it
 */
function decodeWhole({ protocol, route }: ApiCall, whole: JsonObject, before: number): CanonicalRequest {
  try {
    return protocol.server.decodeRequest(whole, route);
  } catch (thrown) {
    if (!GatewayError.is(thrown)) throw thrown;
    const { kind, message, param, code } = thrown;
    throw new GatewayError(kind, asSent(message, before), { param: param && asSent(param, before), code });
  }
}

function asSent(text: string, before: number): string {
  return text.replace(/\bmessages\[(\d+)\]/g, (found, place: string) =>
    Number(place) < before ? found : `messages[${Number(place) - before}]`,
  );
}

function lengthOf({ messages }: JsonObject): number {
  return Array.isArray(messages) ? messages.length : 0;
}
