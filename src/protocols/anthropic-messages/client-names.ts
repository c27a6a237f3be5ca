// Names that the Messages API has for members which reports name after Chat Completions (API reference, "Create a Message",
// 2026-11).
import type { ClientNames } from '../../canonical/index.ts';
import { TABLE } from './fields.ts';

export const CLIENT_NAMES: ClientNames = {
  ...TABLE.names,
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
