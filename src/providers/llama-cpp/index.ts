// llama.cpp's own server (`llama-server`). Needs no key unless it was started with one.
import { defineProvider, speaks } from '../provider.ts';

export const llamaCpp = defineProvider({
  id: 'llama.cpp',
  name: 'llama.cpp',
  keyVariable: null,
  selfHosted: true,
  protocols: {
    'openai-chat': speaks('http://127.0.0.1:8080/v1', {
      quirks: {
        maxTokensField: 'max_tokens',
        systemRole: 'system',
        reasoningField: 'chat_template_kwargs',
        reasoningReplay: 'reasoning_content',
        strictTools: false,
        customTools: false,
        namedToolChoice: false,
        // On unless started with `--no-prefill-assistant`; refused while the model thinks.
        prefill: 'plain',
        // Its own page turns files into text before it sends them (pull request 13365).
        readsFiles: false,
      },
      reasoningFormat: 'llama.cpp-reasoning-v1',
      unsupported: ['verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  docs: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
});
