// Turns of a client of Anthropic's Messages.
import type { ContentBlock, Message, MessageParam } from '@anthropic-ai/sdk/resources/messages';

/** The assistant's own content, and a result for each of its calls. */
export function answered(message: Message, result: string): MessageParam[] {
  const calls = message.content.filter(
    (block): block is ContentBlock & { type: 'tool_use' } => block.type === 'tool_use',
  );
  return [
    { role: 'assistant', content: message.content },
    {
      role: 'user',
      content: calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: result })),
    },
  ];
}
