// What clients of Gemini call what reports name after Chat Completions (API reference, `GenerateContentRequest`,
// 2026-11).
import type { ClientNames } from '../../canonical/index.ts';

const SCHEMAS = ['generationConfig.responseJsonSchema', 'generationConfig.responseSchema'] as const;

export const CLIENT_NAMES: ClientNames = {
  messages: ['contents'],
  input: ['contents'],
  tool_choice: ['toolConfig.functionCallingConfig'],
  max_completion_tokens: ['generationConfig.maxOutputTokens'],
  temperature: ['generationConfig.temperature'],
  top_p: ['generationConfig.topP'],
  top_k: ['generationConfig.topK'],
  frequency_penalty: ['generationConfig.frequencyPenalty'],
  presence_penalty: ['generationConfig.presencePenalty'],
  logprobs: ['generationConfig.responseLogprobs'],
  top_logprobs: ['generationConfig.logprobs'],
  seed: ['generationConfig.seed'],
  stop: ['generationConfig.stopSequences'],
  response_format: [...SCHEMAS, 'generationConfig.responseMimeType'],
  'response_format.json_schema': SCHEMAS,
  'response_format.json_schema.schema': SCHEMAS,
  reasoning: ['generationConfig.thinkingConfig'],
  'reasoning.effort': ['generationConfig.thinkingConfig.thinkingLevel'],
  'reasoning.max_tokens': ['generationConfig.thinkingConfig.thinkingBudget'],
  'reasoning.summary': ['generationConfig.thinkingConfig.includeThoughts'],
  'reasoning.exclude': ['generationConfig.thinkingConfig.includeThoughts'],
};
