// Members of an answer that canonical events hold, or that the gateway writes itself. All others are passed on to Gemini clients.
import type { HeldMembers } from '../../members/answer-rest.ts';
import { GROUNDING_MEMBERS } from './decode-grounding.ts';

export const ANSWER_MEMBERS: HeldMembers = {
  protocol: 'gemini',
  outer: new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']),
  list: {
    name: 'candidates',
    held: new Set(['content', 'finishReason', 'index', 'logprobsResult', ...GROUNDING_MEMBERS]),
  },
};
