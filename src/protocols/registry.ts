// Every protocol, one line each, and how one is found.
import type { ProtocolName } from '../canonical/index.ts';
import type { BatchCodec, KeepingProtocol, Protocol, ServedProtocol, ServerFacts } from './protocol.ts';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { bedrockConverse } from './bedrock-converse/index.ts';
import { gemini } from './gemini/index.ts';
import { geminiInteractions } from './gemini-interactions/index.ts';
import { withMixedBodies } from './mixed-bodies/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';

/** The one that the gateway speaks where nothing says which: the base of its own API. */
export const mainProtocol: ServedProtocol = withMixedBodies(openaiChat, {
  'openai-chat': openaiChat.server,
  'openai-responses': openaiResponses.server,
  'anthropic-messages': anthropicMessages.server,
});

/** All of them, in the order in which people are told of them. */
export const protocols: readonly Protocol[] = [
  mainProtocol,
  openaiResponses,
  anthropicMessages,
  gemini,
  geminiInteractions,
  bedrockConverse,
];

export const PROTOCOL_NAMES: readonly ProtocolName[] = protocols.map(({ name }) => name);

/** Protocols that clients can speak. */
export const servedProtocols: readonly ServedProtocol[] = protocols.filter(isServed);

/** The one whose items and answers the gateway keeps. */
export const keepingProtocol: KeepingProtocol = openaiResponses;

const byName = new Map<string, Protocol>(protocols.map((protocol) => [protocol.name, protocol]));

/** The protocol of a name; undefined when it is not implemented. */
export function findProtocol(name: ProtocolName): Protocol | undefined {
  return byName.get(name);
}

/** The batches that clients of a protocol have. Throws TypeError where they have none. */
export function batchesOf(name: ProtocolName): BatchCodec {
  const batches = byName.get(name)?.server?.batches;
  if (!batches) throw new TypeError(`there are no batches of ${name}`);
  return batches;
}

/** Facts that hold for every server of a protocol. Throws TypeError for one that is not implemented. */
export function serverFacts(name: ProtocolName): ServerFacts {
  const protocol = byName.get(name);
  if (!protocol) throw new TypeError(`there is no protocol ${name}`);
  return protocol.upstream.facts;
}

function isServed(protocol: Protocol): protocol is ServedProtocol {
  return protocol.server !== undefined;
}
