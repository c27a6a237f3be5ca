// What is known of every server of the Responses API.
import type { ServerFacts } from '../protocol.ts';
import { REASONING_FORMAT } from './decode-item.ts';

export const SERVER_FACTS: ServerFacts = {
  auth: { header: 'authorization', prefix: 'Bearer ' },
  reasoningFormat: REASONING_FORMAT,
  reasoningStyles: ['effort'],
  smallestBudget: 1,
  modelList: '/models',
  hasSiblings: true,
  varies: {
    systemRole: ['keep', 'system', 'developer'],
    textContent: ['parts', 'string'],
    unknownFields: ['pass', 'drop'],
    strictTools: [true, false],
    structuredOutput: ['json_schema', 'json_object', 'none'],
  },
};
