// Z.AI (GLM): Chat Completions with a `thinking` switch and preserved reasoning.
import { defineProvider, speaks } from '../provider.ts';

export const zai = defineProvider({
  id: 'zai',
  name: 'Z.AI',
  keyVariable: 'ZAI_API_KEY',
  protocols: {
    'openai-chat': speaks('https://api.z.ai/api/paas/v4', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Guide "Thinking Mode" (2026): `thinking: {type}`; reasoning must be returned with tool results.
        reasoningField: 'thinking',
        reasoningReplay: 'reasoning_content',
        streamUsage: 'always',
        structuredOutput: 'json_object',
        strictTools: false,
        customTools: false,
        messageName: false,
      },
      reasoningFormat: 'zai-glm-v1',
      unsupported: [
        'frequencyPenalty',
        'presencePenalty',
        'logitBias',
        'logprobs',
        'topLogprobs',
        'seed',
        'parallelToolCalls',
        'verbosity',
        'webSearch',
      ],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.z.ai/api-reference/llm/chat-completion',
});
