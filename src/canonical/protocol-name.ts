// The names of the dialects. Must not know which of them are implemented, or in which direction.
/** The dialects that Dragoman speaks. */
export type ProtocolName =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'gemini'
  | 'bedrock-converse';
export const PROTOCOL_NAMES: readonly ProtocolName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'bedrock-converse',
];
