// What clients of the Messages API call what reports name after Chat Completions (API reference, "Create a Message",
// 2026-11).
import type { ClientNames } from '../../canonical/index.ts';

export const CLIENT_NAMES: ClientNames = {
  max_completion_tokens: ['max_tokens'],
  stop: ['stop_sequences'],
  safety_identifier: ['metadata.user_id'],
  parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
  response_format: ['output_config.format'],
  'response_format.json_schema': ['output_config.format'],
  reasoning: ['thinking', 'output_config.effort'],
  'reasoning.effort': ['output_config.effort', 'thinking'],
  'reasoning.max_tokens': ['thinking.budget_tokens'],
  'reasoning.summary': ['thinking.display'],
  'reasoning.exclude': ['thinking.display'],
};
