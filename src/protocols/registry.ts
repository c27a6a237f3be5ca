// Registry of all protocols.
import type { ProtocolName } from '../canonical/index.ts';
import type { BatchCodec, KeepingProtocol, Protocol, ServedProtocol, ServerFacts } from './protocol.ts';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { bedrockConverse } from './bedrock-converse/index.ts';
import { gemini } from './gemini/index.ts';
import { geminiInteractions } from './gemini-interactions/index.ts';
import { withMixedBodies } from './mixed-bodies/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';

/** Default protocol of the gateway's own API. */
export const mainProtocol: ServedProtocol = withMixedBodies(openaiChat, {
  'openai-chat': openaiChat.server,
  'openai-responses': openaiResponses.server,
  'anthropic-messages': anthropicMessages.server,
});

/** All protocols, in the order of documentation and listings. */
export const protocols: readonly Protocol[] = [
  mainProtocol,
  openaiResponses,
  anthropicMessages,
  gemini,
  geminiInteractions,
  bedrockConverse,
];

export const PROTOCOL_NAMES: readonly ProtocolName[] = protocols.map(({ name }) => name);

/** Protocols that clients can use. */
export const servedProtocols: readonly ServedProtocol[] = protocols.filter(isServed);

/** The protocol whose items and answers the gateway stores. */
export const keepingProtocol: KeepingProtocol = openaiResponses;

const byName = new Map<string, Protocol>(protocols.map((protocol) => [protocol.name, protocol]));

/** Finds a protocol by name; undefined if it is not implemented. */
export function findProtocol(name: ProtocolName): Protocol | undefined {
  return byName.get(name);
}

/** Returns the batch codec of a protocol. @throws TypeError if it has none */
export function batchesOf(name: ProtocolName): BatchCodec {
  const batches = byName.get(name)?.server?.batches;
  if (!batches) throw new TypeError(`${name} does not support batches`);
  return batches;
}

/** Returns the facts that hold for every server of a protocol. @throws TypeError if the protocol is not implemented */
export function serverFacts(name: ProtocolName): ServerFacts {
  const protocol = byName.get(name);
  if (!protocol) throw new TypeError(`no protocol is called ${name}`);
  return protocol.upstream.facts;
}

function isServed(protocol: Protocol): protocol is ServedProtocol {
  return protocol.server !== undefined;
}
