// Azure OpenAI's v1 API: OpenAI's protocols at the customer's own address. Models are named by their deployments.
import { defineProvider, endpointAt, speaks } from '../provider.ts';

export const azure = defineProvider({
  id: 'azure',
  name: 'Azure OpenAI',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  auth: { header: 'api-key', prefix: '' },
  credential: 'azure',
  // The name, or the whole address shown in the portal.
  settings: { resource: { variables: ['AZURE_OPENAI_ENDPOINT', 'AZURE_RESOURCE_NAME'] } },
  derivePlaceholders: endpointAt('openai.azure.com'),
  protocols: {
    // Answers carry `prompt_filter_results` and begin with a chunk without choices (recorded 2026).
    'openai-chat': speaks('{endpoint}/openai/v1', { unsupported: ['webSearch'] }),
    // Encrypted reasoning is bound to the resource. OpenAI's cannot be read here.
    'openai-responses': speaks('{endpoint}/openai/v1', {
      quirks: { searchesWeb: true, runsMcp: true },
      reasoningFormat: 'azure-responses-v1',
    }),
  },
  defaultProtocol: 'openai-chat',
  priceId: 'azure',
  // Azure serves deployments with custom names.
  notServed: /^/,
  docs: 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle',
});
