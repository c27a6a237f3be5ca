// A vLLM server run by the operator. Needs no key unless the server was started with one.
import { defineProvider, OWN_MACHINE, speaks } from '../provider.ts';

export const vllm = defineProvider({
  id: 'vllm',
  name: 'vLLM',
  keyVariable: null,
  selfHosted: true,
  patience: OWN_MACHINE,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:8000/v1', {
      quirks: {
        systemRole: 'system',
        // Thinking is switched in the chat template. `reasoning_effort` (`none` to `max`, `ChatCompletionRequest`,
        // 2026-11) is for models whose template reads it: family table.
        reasoningField: 'chat_template_kwargs',
        reasoningReplay: 'reasoning',
        // "Extra parameters" of the chat API (2026-11).
        prefill: 'continue_final_message',
        // "Unsupported chat content part type: 'file'" (pull request 57774, 2026-09).
        readsFiles: false,
        strictTools: false,
        customTools: false,
      },
      // The path is beside `/v1` instead of below it.
      tasks: { count: { path: '/../tokenize' } },
      reasoningFormat: 'vllm-reasoning-v1',
      unsupported: ['verbosity', 'webSearch'],
      // `ChatCompletionRequest` has neither `verbosity` nor `web_search_options`, and accepts a named `tool_choice`
      // (2026-11).
      alsoTakes: ['topK'],
    }),
  },
  defaultProtocol: 'openai-chat',
  measured:
    'Not measured in this version of the gateway: the quirks were compared with its documentation and with the request in its source (`vllm/entrypoints/openai/chat_completion/protocol.py`) on 2026-11-24. `dragoman doctor` asks your own server.',
  docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
});
