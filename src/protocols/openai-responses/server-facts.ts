// Facts that hold for every server of the Responses API.
import type { ServerFacts } from '../protocol.ts';
import { REASONING_FORMAT } from './decode-item.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  reasoningFormat: REASONING_FORMAT,
  reasoningStyles: ['effort'],
  smallestBudget: 1,
  modelList: '/models',
  hasSiblings: true,
  // llama.cpp, vLLM and LM Studio know them. Other servers ignore them, or name them in a refusal.
  extraParameters: ['topK', 'seed'],
  varies: {
    namesCutAnswers: [true, false],
    systemRole: ['keep', 'system', 'developer'],
    textContent: ['parts', 'string'],
    unknownFields: ['pass', 'drop'],
    strictTools: [true, false],
    structuredOutput: ['json_schema', 'json_object', 'none'],
  },
};
