// Google AI Studio: the Gemini API with a key, which defines the Gemini protocol. Vertex serves the same protocol at
// another address, with tokens of a service account.
import { defineProvider, speaks } from '../provider.ts';

export const google = defineProvider({
  id: 'google',
  name: 'Google AI Studio',
  keyVariable: 'GEMINI_API_KEY',
  auth: { header: 'x-goog-api-key', prefix: '' },
  protocols: {
    gemini: speaks('https://generativelanguage.googleapis.com/v1beta', {
      faithful: true,
      quirks: { searchesWeb: true },
      reasoningFormat: 'google-gemini-v1',
    }),
    'gemini-interactions': speaks('https://generativelanguage.googleapis.com/v1beta', { faithful: true }),
  },
  defaultProtocol: 'gemini',
  // "Batch API" guide, 2026-11: half of all rates.
  batchPriceFactor: 0.5,
  // The library lists all of Vertex's models under Google. AI Studio serves only Google's own, and live models only
  // over a WebSocket.
  notServed: /^(?!gemini|gemma|learnlm)|-live(-|$)/,
  docs: 'https://ai.google.dev/api/generate-content',
});
