// The simulated provider as a preset of the catalog. The simulation itself knows nothing of the gateway.
import { defineProvider, type ProviderPreset, speaks } from '../provider.ts';

/**
 * The provider entry of the simulated service.
 * @param origin where it listens, e.g. `http://127.0.0.1:4010`
 */
export function simPreset(origin: string): ProviderPreset {
  return defineProvider({
    id: 'sim',
    name: 'Simulated models',
    keyVariable: null,
    protocols: {
      'openai-chat': speaks(`${origin}/openai/v1`, { faithful: true, quirks: { prefill: 'plain' } }),
      'openai-responses': speaks(`${origin}/openai/v1`, {
        faithful: true,
        reasoningFormat: 'openai-responses-v1',
      }),
      'anthropic-messages': speaks(`${origin}/anthropic`, {
        faithful: true,
        reasoningFormat: 'anthropic-claude-v1',
        quirks: { cacheControl: true, exclusiveReasoning: true, prefill: 'plain' },
      }),
      gemini: speaks(`${origin}/google/v1beta`, {
        faithful: true,
        reasoningFormat: 'google-gemini-v1',
        quirks: { prefill: 'plain' },
      }),
    },
    defaultProtocol: 'openai-chat',
    docs: 'docs/sim.md',
  });
}
