// Qwen at Alibaba Cloud's DashScope in OpenAI-compatible mode (international endpoint).
import { defineProvider, speaks } from '../provider.ts';

export const qwen = defineProvider({
  id: 'qwen',
  name: 'Qwen (DashScope)',
  keyVariable: 'DASHSCOPE_API_KEY',
  protocols: {
    'openai-chat': speaks('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        // Guide "Deep thinking" (2026): `enable_thinking`, with `thinking_budget` in tokens.
        reasoningField: 'enable_thinking',
        reasoningReplay: 'reasoning_content',
        // Guide "Partial mode" (2026): only with thinking off.
        prefill: 'partial',
        strictTools: false,
        customTools: false,
        // "Invalid value: file. Supported values are: 'text','image_url','video_url' and 'video'" (a 400 seen in
        // 2026-02).
        readsFiles: false,
        // Explicit context cache: `cache_control` on message parts.
        cacheControl: true,
      },
      reasoningFormat: 'qwen-reasoning-v1',
      unsupported: ['frequencyPenalty', 'logitBias', 'verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
});
