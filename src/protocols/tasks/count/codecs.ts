// Token-count codecs of all protocols.
import { messagesCount } from '../../anthropic-messages/tasks/count/index.ts';
import { bedrockCount } from '../../bedrock-converse/tasks/count/index.ts';
import { geminiCount } from '../../gemini/tasks/count/index.ts';
import { chatCount } from '../../openai-chat/tasks/count/index.ts';
import { responsesCount } from '../../openai-responses/tasks/count/index.ts';
import type { CountCodec } from './codec.ts';

export const COUNT_CODECS: readonly CountCodec[] = [
  messagesCount,
  bedrockCount,
  geminiCount,
  chatCount,
  responsesCount,
];
