// Azure OpenAI's older API: Chat Completions below the path of a deployment, with a dated API version.
import { defineProvider, endpointAt, speaks } from '../provider.ts';

const PATH = '/deployments/{model}/chat/completions?api-version={apiVersion}';
const OPERATION = '/deployments/{model}{operation}?api-version={apiVersion}';

export const azureDeployments = defineProvider({
  id: 'azure-deployments',
  name: 'Azure OpenAI (deployments API)',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  namedOnly: true,
  auth: { header: 'api-key', prefix: '' },
  credential: 'azure',
  settings: {
    resource: { variables: ['AZURE_OPENAI_ENDPOINT', 'AZURE_RESOURCE_NAME'] },
    // The latest version declared stable.
    apiVersion: { variables: ['OPENAI_API_VERSION'], fallback: '2024-10-21' },
  },
  derivePlaceholders: endpointAt('openai.azure.com'),
  protocols: {
    'openai-chat': speaks('{endpoint}/openai', {
      unsupported: ['webSearch'],
      hosting: { path: PATH, streamPath: PATH, tasks: { embeddings: { path: OPERATION } } },
    }),
  },
  defaultProtocol: 'openai-chat',
  priceId: 'azure',
  notServed: /^/,
  docs: 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference',
});
