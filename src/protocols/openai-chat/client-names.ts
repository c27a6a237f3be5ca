// Members that Chat Completions lets a client say in more than one way. Its other names are those of the reports.
import type { ClientNames } from '../../canonical/index.ts';

export const CLIENT_NAMES: ClientNames = {
  max_completion_tokens: ['max_completion_tokens', 'max_tokens'],
  safety_identifier: ['safety_identifier', 'user'],
  reasoning: ['reasoning', 'reasoning_effort', 'include_reasoning'],
  'reasoning.effort': ['reasoning.effort', 'reasoning_effort'],
  'reasoning.exclude': ['reasoning.exclude', 'include_reasoning'],
  'response_format.strict': ['response_format.json_schema.strict'],
  'tools[].strict': ['tools[].function.strict'],
};
