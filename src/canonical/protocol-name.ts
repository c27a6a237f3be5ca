/** The dialects that Dragoman speaks. */
export type ProtocolName = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini';
export const PROTOCOL_NAMES: readonly ProtocolName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'];
