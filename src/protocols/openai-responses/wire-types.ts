// The names and shapes of OpenAI's Responses API that the codecs are checked against at compile time, taken
// from the official SDK's types. Nothing here exists at run time. What arrives is never trusted to have these
// shapes: decoders narrow every member, because compatible servers add, rename and leave out.
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

/** Every event the official SDK knows. */
export type OfficialEvent = ResponseStreamEvent['type'];

/**
 * Events outside the SDK's list that servers do send: `response.cancelled` (background answers),
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

// Types of what the encoder writes, one alias per node, so that a literal can be checked with `satisfies`.
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
