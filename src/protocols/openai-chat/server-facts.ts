// Facts that hold for every server of Chat Completions. Many makers have written one, and each took over what it needed.
import type { ServerFacts } from '../protocol.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  reasoningFormat: null,
  reasoningStyles: ['effort', 'budget'],
  smallestBudget: 1,
  modelList: '/models',
  hasSiblings: true,
  // llama.cpp, vLLM and LM Studio know them. Other servers ignore them, or name them in a refusal.
  extraParameters: ['topK', 'seed'],
  namesEnds: true,
  varies: {
    maxTokensField: ['max_completion_tokens', 'max_tokens'],
    systemRole: ['keep', 'system', 'developer'],
    mergeSystem: [true, false],
    textContent: ['parts', 'string'],
    unknownFields: ['pass', 'drop'],
    requiredToolChoice: ['required', 'any'],
    namedToolChoice: [true, false],
    strictTools: [true, false],
    structuredOutput: ['json_schema', 'json_object', 'none'],
    streamUsage: ['include_usage', 'always'],
    reasoningField: ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs'],
    reasoningReplay: ['reasoning_details', 'reasoning_content', 'reasoning'],
    prefill: ['plain', 'continue_final_message', 'prefix', 'partial'],
  },
};
