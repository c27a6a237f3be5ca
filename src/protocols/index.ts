// The door of this folder: the registry, and what protocols have in common with the rest of the gateway.
export type {
  AnswerContext,
  AuthScheme,
  ClientAddress,
  ClientOperation,
  CodecContext,
  CountCodec,
  CountServer,
  DecodedEmbeddings,
  EmbeddingsCodec,
  ListedModel,
  Ported,
  Protocol,
  RelayFacts,
  RelayStream,
  RelayTap,
  RemoteAnswers,
  RemoteCounts,
  RemoteNames,
  RemoteOperation,
  RequestRoute,
  ServedProtocol,
  ServerCodec,
  ServerFacts,
  StoredItems,
  StreamDecoder,
  UpstreamCodec,
} from './protocol.ts';

export { parseAnswer } from './broken-answer.ts';
export { decodeMetadata } from './openai/decode-metadata.ts';
export {
  findProtocol,
  keepingProtocol,
  mainProtocol,
  PROTOCOL_NAMES,
  protocols,
  servedProtocols,
  serverFacts,
} from './registry.ts';
export { FrameSplitter, type TakeFrame } from './frame-splitter.ts';
export { editMembers, type MemberEdits } from './json-splice.ts';
export type { NamedObject } from './named-objects.ts';
export { encodeRateLimitHeaders } from './rate-limit-headers.ts';
export { screenshotFile, withScreenshot } from './screenshot.ts';
export { tellForeign } from './tell-foreign.ts';
export { withoutCredentials } from './without-credentials.ts';
export { readBoolean, readString } from './read-member.ts';
