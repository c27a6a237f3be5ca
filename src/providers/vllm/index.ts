// A vLLM server run by the operator. Needs no key unless the server was started with one.
import { defineProvider, speaks } from '../provider.ts';

export const vllm = defineProvider({
  id: 'vllm',
  name: 'vLLM',
  keyVariable: null,
  selfHosted: true,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:8000/v1', {
      quirks: {
        systemRole: 'system',
        // Thinking is switched in the chat template; `reasoning_effort` reaches only gpt-oss: family table.
        reasoningField: 'chat_template_kwargs',
        reasoningReplay: 'reasoning',
        // "Extra parameters" of the chat API.
        prefill: 'continue_final_message',
        // "Unsupported chat content part type: 'file'" (pull request 57774, 2026-09).
        readsFiles: false,
        strictTools: false,
        customTools: false,
      },
      reasoningFormat: 'vllm-reasoning-v1',
      unsupported: ['verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
});
