// Presets in the dialog: those that need only an API key or a URL. Presets of clouds need more, and are described in
// the manual. `test/console/presets.test.ts` compares the list with the catalog.

interface Preset {
  readonly id: string;
  readonly name: string;
  /** Environment variable that usually holds the API key; null: a self-hosted server, configured by URL. */
  readonly variable: string | null;
}

export const PRESETS: readonly Preset[] = [
  { id: 'openai', name: 'OpenAI', variable: 'OPENAI_API_KEY' },
  { id: 'anthropic', name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
  { id: 'google', name: 'Google AI Studio', variable: 'GEMINI_API_KEY' },
  { id: 'cerebras', name: 'Cerebras', variable: 'CEREBRAS_API_KEY' },
  { id: 'deepseek', name: 'DeepSeek', variable: 'DEEPSEEK_API_KEY' },
  { id: 'fireworks', name: 'Fireworks AI', variable: 'FIREWORKS_API_KEY' },
  { id: 'groq', name: 'Groq', variable: 'GROQ_API_KEY' },
  { id: 'mistral', name: 'Mistral AI', variable: 'MISTRAL_API_KEY' },
  { id: 'moonshot', name: 'Moonshot AI', variable: 'MOONSHOT_API_KEY' },
  { id: 'nvidia', name: 'NVIDIA NIM', variable: 'NVIDIA_API_KEY' },
  { id: 'openrouter', name: 'OpenRouter', variable: 'OPENROUTER_API_KEY' },
  { id: 'perplexity', name: 'Perplexity', variable: 'PERPLEXITY_API_KEY' },
  { id: 'qwen', name: 'Qwen (DashScope)', variable: 'DASHSCOPE_API_KEY' },
  { id: 'together', name: 'Together AI', variable: 'TOGETHER_API_KEY' },
  { id: 'xai', name: 'xAI', variable: 'XAI_API_KEY' },
  { id: 'zai', name: 'Z.AI', variable: 'ZAI_API_KEY' },
  { id: 'vllm', name: 'vLLM', variable: null },
  { id: 'llama.cpp', name: 'llama.cpp', variable: null },
  { id: 'lm-studio', name: 'LM Studio', variable: null },
  { id: 'ollama', name: 'Ollama', variable: null },
];

/** Entry of the configuration file. @param address URL of a self-hosted server */
export function yamlOf({ id, variable }: Preset, address: string): string {
  if (variable !== null) return `providers:\n  ${id}: { api_key: "\${${variable}}" }\n`;
  return `providers:\n  ${id}:\n    protocols: { openai-chat: { base_url: "${address}" } }\n`;
}
