// NVIDIA NIM (hosted): many open-weight models over Chat Completions, similar to vLLM.
import { defineProvider, speaks } from '../provider.ts';

export const nvidia = defineProvider({
  id: 'nvidia',
  name: 'NVIDIA NIM',
  keyVariable: 'NVIDIA_API_KEY',
  protocols: {
    'openai-chat': speaks('https://integrate.api.nvidia.com/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        reasoningField: 'chat_template_kwargs',
        reasoningReplay: 'reasoning_content',
        structuredOutput: 'none',
        strictTools: false,
        customTools: false,
        // API reference: message parts are text, images, audio and video.
        readsFiles: false,
      },
      reasoningFormat: 'nvidia-reasoning-v1',
      unsupported: ['logitBias', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
});
