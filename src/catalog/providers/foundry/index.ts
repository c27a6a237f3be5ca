// Microsoft Foundry: models of many makers at the customer's own address, Claude over Anthropic's protocol.
import { defineProvider, endpointAt, speaks } from '../provider.ts';

export const foundry = defineProvider({
  id: 'foundry',
  name: 'Microsoft Foundry',
  keyVariable: 'AZURE_AI_API_KEY',
  auth: { header: 'api-key', prefix: '' },
  credential: 'azure',
  settings: { resource: { variables: ['AZURE_AI_ENDPOINT', 'AZURE_AI_RESOURCE'] } },
  derivePlaceholders: endpointAt('services.ai.azure.com'),
  protocols: {
    'openai-chat': speaks('{endpoint}/openai/v1', { unsupported: ['webSearch'] }),
    'openai-responses': speaks('{endpoint}/openai/v1', {
      quirks: { searchesWeb: true, runsMcp: true },
      reasoningFormat: 'azure-responses-v1',
    }),
    'anthropic-messages': speaks('{endpoint}/anthropic', {
      faithful: true,
      quirks: { cacheControl: true, exclusiveReasoning: true, prefill: 'plain', searchesWeb: true },
      reasoningFormat: 'anthropic-claude-v1',
      auth: { header: 'x-api-key', prefix: '' },
    }),
  },
  defaultProtocol: 'openai-chat',
  protocolOf: [{ match: /^claude-/, protocol: 'anthropic-messages' }],
  priceId: 'azure',
  notServed: /^/,
  docs: 'https://learn.microsoft.com/en-us/azure/ai-foundry/foundry-models/how-to/use-foundry-models-claude',
});
