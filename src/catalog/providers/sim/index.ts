// Preset of the simulated provider.
import { defineProvider, type ProviderPreset, speaks } from '../provider.ts';

/** Makes the preset. @param origin address of the simulation, e.g. `http://127.0.0.1:4010` */
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
