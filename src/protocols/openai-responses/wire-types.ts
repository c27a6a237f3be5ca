// Types of OpenAI's Responses API, taken from the official SDK, against which the codecs are checked at compile time.
// Input is never trusted to have these types: decoders narrow every member, because compatible servers change members.
import type {
  EasyInputMessage,
  ResponseCustomToolCall,
  ResponseCustomToolCallOutput,
  ResponseFunctionToolCall,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputText,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';

/** Every event that the official SDK has. */
export type OfficialEvent = ResponseStreamEvent['type'];

/**
 * Events that servers send, but the SDK does not have: `response.cancelled` (background answers),
 * `response.reasoning.*` (Open Responses schema of 2026-04-24), `response.reasoning_part.*` (Bedrock, recorded
 * 2026-08), `keepalive`.
 */
export type UnofficialEvent =
  | 'response.cancelled'
  | 'response.reasoning.delta'
  | 'response.reasoning.done'
  | 'response.reasoning_part.added'
  | 'response.reasoning_part.done'
  | 'keepalive';

export type WireEvent = OfficialEvent | UnofficialEvent;

// Types of what the encoder writes, one alias per node, for checks with `satisfies`.
export type WireMessage = Omit<EasyInputMessage, 'content'>;
export type WireInputText = ResponseInputText;
export type WireInputImage = ResponseInputImage;
export type WireInputFile = ResponseInputFile;
export type WireOutputText = ResponseOutputText;
export type WireRefusal = ResponseOutputRefusal;
export type WireReasoning = Omit<ResponseReasoningItem, 'id'>;
export type WireFunctionCall = ResponseFunctionToolCall;
export type WireFunctionOutput = Omit<ResponseInputItem.FunctionCallOutput, 'output'>;
export type WireCustomCall = ResponseCustomToolCall;
export type WireCustomOutput = Omit<ResponseCustomToolCallOutput, 'output'>;
