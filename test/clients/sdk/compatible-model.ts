// A model of the AI SDK's provider for OpenAI-compatible servers.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';
import type { TestGateway } from '../../support/harness.ts';

export function compatibleModel(
  { baseURL, key }: Pick<TestGateway, 'baseURL' | 'key'>,
  id: string,
): LanguageModel {
  const options = { includeUsage: true, supportsStructuredOutputs: true };
  return createOpenAICompatible({ name: 'dragoman', baseURL, apiKey: key, ...options })(id);
}
