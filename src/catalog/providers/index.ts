// All provider presets, one per line. Data only.
import { anthropic } from './anthropic/index.ts';
import { azureDeployments } from './azure-deployments/index.ts';
import { azure } from './azure/index.ts';
import { bedrockMantle } from './bedrock-mantle/index.ts';
import { bedrock } from './bedrock/index.ts';
import { cerebras } from './cerebras/index.ts';
import { deepseek } from './deepseek/index.ts';
import { fireworks } from './fireworks/index.ts';
import { foundry } from './foundry/index.ts';
import { google } from './google/index.ts';
import { groq } from './groq/index.ts';
import { llamaCpp } from './llama-cpp/index.ts';
import { lmStudio } from './lm-studio/index.ts';
import { mistral } from './mistral/index.ts';
import { moonshot } from './moonshot/index.ts';
import { nvidia } from './nvidia/index.ts';
import { ollama } from './ollama/index.ts';
import { openai } from './openai/index.ts';
import { openrouter } from './openrouter/index.ts';
import { perplexity } from './perplexity/index.ts';
import type { ProviderPreset } from './provider.ts';
import { qwen } from './qwen/index.ts';
import { together } from './together/index.ts';
import { vertex } from './vertex/index.ts';
import { vllm } from './vllm/index.ts';
import { xai } from './xai/index.ts';
import { zai } from './zai/index.ts';

export type {
  Patience,
  AuthScheme,
  CredentialKind,
  HostedOperation,
  TaskOperations,
  Hosting,
  ProviderPreset,
  ProviderProtocol,
  SettingName,
} from './provider.ts';
export { resolveQuirks } from './provider.ts';
export { simPreset } from './sim/index.ts';

export const presets: readonly ProviderPreset[] = [
  openai,
  anthropic,
  google,
  azure,
  azureDeployments,
  foundry,
  bedrock,
  bedrockMantle,
  vertex,
  deepseek,
  groq,
  mistral,
  xai,
  openrouter,
  together,
  fireworks,
  moonshot,
  qwen,
  zai,
  cerebras,
  perplexity,
  nvidia,
  ollama,
  lmStudio,
  vllm,
  llamaCpp,
];
