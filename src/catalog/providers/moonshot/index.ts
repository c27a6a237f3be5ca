// Moonshot AI (Kimi): thinking models that lose their reasoning unless `reasoning_content` is sent back.
import { defineProvider, speaks } from '../provider.ts';

export const moonshot = defineProvider({
  id: 'moonshot',
  name: 'Moonshot AI',
  keyVariable: 'MOONSHOT_API_KEY',
  priceId: 'moonshotai',
  protocols: {
    'openai-chat': speaks('https://api.moonshot.ai/v1', {
      quirks: {
        systemRole: 'system',
        // Guide "Kimi K2 thinking model" (2026): `thinking: {type}` on K2.x. K3 accepts an effort: family table.
        reasoningField: 'thinking',
        reasoningReplay: 'reasoning_content',
        // Guide "Partial Mode" (2026): the answer does not repeat the text.
        prefill: 'partial',
        strictTools: false,
        customTools: false,
      },
      reasoningFormat: 'moonshot-kimi-v1',
      unsupported: ['logitBias', 'logprobs', 'topLogprobs', 'seed', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://platform.moonshot.ai/docs/api/chat',
});
