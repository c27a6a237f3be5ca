// Public interface of this folder: the registry, and what the rest of the gateway uses of the protocols.
export type {
  AnswerContext,
  AuthScheme,
  BackgroundCodec,
  BackgroundFailure,
  BatchCodec,
  BatchProblem,
  ClientAddress,
  ClientOperation,
  ClientRoute,
  CodecContext,
  DecodedTask,
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
  RequiredIds,
  ServedProtocol,
  ServerCodec,
  ShownBatch,
  ShownFile,
  StoredItems,
  KeptThreadTurn,
  LineEnd,
  ThreadCodec,
  UnansweredEnd,
  EarlierAnswer,
  PieceSink,
  TaskAnswer,
  TaskCodec,
  TaskStream,
  TaskUpstream,
  UpstreamBatches,
  UpstreamCodec,
  VendorBatch,
  VendorOperation,
  VendorResult,
} from './protocol.ts';

export { parseAnswer } from './errors/broken-answer.ts';
export { anyObject, eventStream } from './members/described-shapes.ts';
export { decodeBatchRequest } from './openai/batches.ts';
export {
  aroundResults,
  type BatchMethod,
  decodeGeminiBatch,
  GEMINI_BATCH_METHODS,
  GEMINI_REQUESTS,
  isInline,
} from './gemini/batches/index.ts';
export { decodeGeminiUpload, encodeGeminiFile, fileIdOf } from './gemini/files/index.ts';
export { decodeMetadata } from './openai/decode-members.ts';
export { listShape } from './openai/described-shapes.ts';
export { sharesMembers } from './openai/shared-members.ts';
export {
  batchesOf,
  findProtocol,
  keepingProtocol,
  mainProtocol,
  PROTOCOL_NAMES,
  protocols,
  servedProtocols,
  serverFacts,
} from './registry.ts';
export { schemaOf, type Field } from './members/field-table.ts';
export { frameData, FrameSplitter, type TakeFrame } from './streams/frame-splitter.ts';
export { editMembers } from './relay/json-splice.ts';
export type { NamedObject } from './members/named-objects.ts';
export { encodeRateLimitHeaders } from './usage/rate-limit-headers.ts';
export { screenshotFile, withScreenshot } from './content/screenshot.ts';
export { taskRequest, TextBody } from './codec/task-codec.ts';
export { renderForeign } from './content/render-foreign.ts';
export { withoutCredentials } from './without-credentials.ts';
