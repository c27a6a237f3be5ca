// Names that Gemini has for members which reports name after Chat Completions (API reference, `GenerateContentRequest`,
// 2026-11).
import type { ClientNames } from '../../canonical/index.ts';
import { CONFIG_TABLE } from './fields.ts';

const SCHEMAS = ['generationConfig.responseJsonSchema', 'generationConfig.responseSchema'] as const;

export const CLIENT_NAMES: ClientNames = {
  messages: ['contents'],
  input: ['contents'],
  tool_choice: ['toolConfig.functionCallingConfig'],
  ...CONFIG_TABLE.names,
  response_format: [...SCHEMAS, 'generationConfig.responseMimeType'],
  'response_format.json_schema': SCHEMAS,
  'response_format.json_schema.schema': SCHEMAS,
  reasoning: ['generationConfig.thinkingConfig'],
  'reasoning.effort': ['generationConfig.thinkingConfig.thinkingLevel'],
  'reasoning.max_tokens': ['generationConfig.thinkingConfig.thinkingBudget'],
  'reasoning.summary': ['generationConfig.thinkingConfig.includeThoughts'],
  'reasoning.exclude': ['generationConfig.thinkingConfig.includeThoughts'],
};
