// Google's Vertex AI: Gemini over its own protocol and Claude over Anthropic's, both below a project and location.
// Authenticated by a service account, or by an access token as the key.
import { defineProvider, speaks } from '../provider.ts';

const PLACE = 'https://{host}/v1/projects/{project}/locations/{location}';
const GOOGLE = '/publishers/google/models/{model}';
const VERSION = { anthropic_version: 'vertex-2023-10-16' };
const ANTHROPIC = '/publishers/anthropic/models/{model}';

/** Documentation "Vertex AI locations" and "Data residency" (2026-11): global, multi-regions, regions. */
function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com';
  if (location === 'us' || location === 'eu') return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}

export const vertex = defineProvider({
  id: 'vertex',
  name: 'Google Vertex AI',
  keyVariable: null,
  credential: 'google',
  settings: {
    project: { variables: ['GOOGLE_CLOUD_PROJECT', 'GOOGLE_VERTEX_PROJECT'] },
    location: { variables: ['GOOGLE_CLOUD_LOCATION', 'GOOGLE_VERTEX_LOCATION'], fallback: 'global' },
  },
  derivePlaceholders: ({ location = '' }) => ({ host: hostOf(location) }),
  protocols: {
    gemini: speaks(PLACE, {
      faithful: true,
      quirks: { searchesWeb: true },
      reasoningFormat: 'google-gemini-v1',
      hosting: {
        path: `${GOOGLE}:generateContent`,
        streamPath: `${GOOGLE}:streamGenerateContent?alt=sse`,
        tasks: { count: { path: `${GOOGLE}:countTokens` }, embeddings: { path: `${GOOGLE}{operation}` } },
      },
    }),
    'anthropic-messages': speaks(PLACE, {
      faithful: true,
      // platform.claude.com, "Vision": only base64 on Google Cloud and Bedrock, 2026-11.
      quirks: {
        cacheControl: true,
        exclusiveReasoning: true,
        prefill: 'plain',
        fetchesUrls: false,
        searchesWeb: true,
      },
      reasoningFormat: 'anthropic-claude-v1',
      hosting: {
        path: `${ANTHROPIC}:rawPredict`,
        streamPath: `${ANTHROPIC}:streamRawPredict`,
        set: VERSION,
        remove: ['model'],
        // The body contains the model ("Count tokens for Claude models", 2026-11, and Anthropic's SDK).
        tasks: { count: { path: '/publishers/anthropic/models/count-tokens:rawPredict', set: VERSION } },
      },
    }),
  },
  defaultProtocol: 'gemini',
  protocolOf: [{ match: /^claude-/, protocol: 'anthropic-messages' }],
  priceId: 'google',
  notServed: /^(?!gemini)|-live(-|$)/,
  docs: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference',
});
