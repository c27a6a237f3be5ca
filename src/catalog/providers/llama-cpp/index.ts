// llama.cpp's server (`llama-server`). Needs no key unless it was started with one.
import { defineProvider, OWN_MACHINE, speaks } from '../provider.ts';

export const llamaCpp = defineProvider({
  id: 'llama.cpp',
  name: 'llama.cpp',
  keyVariable: null,
  selfHosted: true,
  patience: OWN_MACHINE,
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
        // On unless started with `--no-prefill-assistant`; rejected while the model thinks.
        prefill: 'plain',
        // Its web page converts files to text before it sends them (pull request 13365).
        readsFiles: false,
      },
      tasks: { count: { path: '/chat/completions/input_tokens' } },
      reasoningFormat: 'llama.cpp-reasoning-v1',
      unsupported: ['verbosity', 'webSearch'],
      alsoTakes: ['topK'],
    }),
  },
  // These protocols support less of a request than Chat Completions (measured with 0.10434.0, 2026-11-24).
  lesserProtocols: {
    'openai-responses': speaks('http://127.0.0.1:8080/v1', {
      quirks: {
        customTools: false,
        strictTools: false,
        smallLimits: true,
        // Truncated answers are `completed`, and `text.format` has no effect.
        namesCutAnswers: false,
        structuredOutput: 'none',
        readsFiles: false,
      },
      unsupported: ['verbosity', 'webSearch', 'logprobs', 'topLogprobs'],
      alsoTakes: ['topK', 'seed'],
    }),
    'anthropic-messages': speaks('http://127.0.0.1:8080', {
      quirks: {
        customTools: false,
        strictTools: false,
        // `thinking: disabled` and `output_config.format` have no effect.
        reasoningField: 'chat_template_kwargs',
        structuredOutput: 'none',
        readsFiles: false,
      },
      unsupported: ['verbosity', 'webSearch'],
    }),
  },
  defaultProtocol: 'openai-chat',
  measured:
    'Measured on 2026-11-24 with `llama-server` 0.10434.0 (build 7e4c0a9), over Chat Completions, Responses and Messages, for ' +
    'clients of all four protocols. Texts, thoughts, calls, schemas, ends and token counts are the same directly and through ' +
    'the gateway. In this version Responses and Messages ignore schemas of responses, and Messages ignores `seed` and ' +
    '`thinking: disabled`. Responses reports a truncated response as complete. So Chat Completions is used unless you name another protocol.',
  docs: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
});
