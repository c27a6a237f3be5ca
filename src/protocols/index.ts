// Every protocol, one line each.
import type { ProtocolName } from '../canonical/index.ts';
import type { Protocol, ServedProtocol, ServerFacts } from './protocol.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiResponses } from './openai-responses/index.ts';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { gemini } from './gemini/index.ts';
import { bedrockConverse } from './bedrock-converse/index.ts';

export type {
  AnswerContext,
  AuthScheme,
  CodecContext,
  CountCodec,
  CountServer,
  DecodedEmbeddings,
  EmbeddingsCodec,
  Ported,
  Protocol,
  RelayFacts,
  RelayStream,
  RelayTap,
  RequestRoute,
  ServedProtocol,
  ServerCodec,
  ServerFacts,
  StoredItems,
  StreamDecoder,
  UpstreamCodec,
} from './protocol.ts';

export { parseAnswer } from './broken-answer.ts';
export { decodeMetadata } from './decode-metadata.ts';
export { encodeModel as encodeGeminiModel, encodeModelList as encodeGeminiModels } from './gemini/index.ts';
export type { ListedModel as GeminiModel } from './gemini/index.ts';
export { audioFormat, isTextType, mediaTypeOfFile } from './media-type.ts';
export { editMembers } from './json-splice.ts';
export type { NamedObject } from './named-objects.ts';
export { screenshotFile, withScreenshot } from './screenshot.ts';
export { tellForeign } from './tell-foreign.ts';
export { withoutCredentials } from './without-credentials.ts';
export { readBoolean, readString } from './read-member.ts';

export const protocols: readonly Protocol[] = [
  openaiChat,
  openaiResponses,
  anthropicMessages,
  gemini,
  bedrockConverse,
];

/** The one that the gateway speaks where nothing says which: the base of its own API. */
export const mainProtocol: ServedProtocol = served(openaiChat);

/** Every name, in the order in which people are told of them. */
export const PROTOCOL_NAMES: readonly ProtocolName[] = protocols.map(({ name }) => name);

const byName = new Map<string, Protocol>(protocols.map((protocol) => [protocol.name, protocol]));

/** The protocol of a name; undefined when it is not implemented. */
export function findProtocol(name: ProtocolName): Protocol | undefined {
  return byName.get(name);
}

/** What is known of every server of a protocol. Throws TypeError for one that is not implemented. */
export function serverFacts(name: ProtocolName): ServerFacts {
  const protocol = byName.get(name);
  if (!protocol) throw new TypeError(`there is no protocol ${name}`);
  return protocol.upstream.facts;
}

/** A protocol that clients can speak. Throws TypeError for any other. */
function served(protocol: Protocol): ServedProtocol {
  const { server } = protocol;
  if (!server) throw new TypeError(`${protocol.name} has no server side`);
  return { ...protocol, server };
}
