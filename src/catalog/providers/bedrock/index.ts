// Amazon Bedrock: Claude by Anthropic's own body, every other model by the Converse API. Needs a Bedrock API key, or an
// account's keys, with which each request is signed.
import { defineProvider, speaks } from '../provider.ts';

const RUNTIME = 'https://bedrock-runtime.{region}.amazonaws.com';

export const bedrock = defineProvider({
  id: 'bedrock',
  name: 'Amazon Bedrock',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  credential: 'aws',
  settings: { region: { variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'] } },
  protocols: {
    'bedrock-converse': speaks(RUNTIME, {
      quirks: {
        // Converse says nothing of reasoning; the families say where it goes.
        reasoningField: 'none',
        // "A conversation must start with a user message"; Claude's takes both (family table).
        assistantFirst: false,
        // Given back under the label of the model's own family.
        reasoningReplay: 'reasoning_details',
        customTools: false,
        strictTools: false,
        messageName: false,
      },
    }),
    'anthropic-messages': speaks(RUNTIME, {
      faithful: true,
      // platform.claude.com, "Vision": only base64 on Google Cloud and Bedrock, 2026-11.
      quirks: { cacheControl: true, exclusiveReasoning: true, prefill: 'plain', fetchesUrls: false },
      // Signatures are the same wherever Claude runs (platform.claude.com, "Extended thinking", 2026-11).
      reasoningFormat: 'anthropic-claude-v1',
      hosting: {
        path: '/model/{model}/invoke',
        streamPath: '/model/{model}/invoke-with-response-stream',
        headers: { accept: '*/*' },
        set: { anthropic_version: 'bedrock-2023-05-31' },
        remove: ['model', 'stream'],
        // `CountTokens` knows Claude's own body only inside of base64; Converse's says the same.
        tasks: { count: { path: '{operation}', protocol: 'bedrock-converse' } },
        headerMembers: { 'anthropic-beta': 'anthropic_beta' },
      },
    }),
    'openai-chat': speaks(`${RUNTIME}/openai/v1`, { unsupported: ['webSearch', 'verbosity'] }),
  },
  defaultProtocol: 'bedrock-converse',
  protocolOf: [
    { match: /(^|[./])anthropic\.claude-/, protocol: 'anthropic-messages' },
    { match: /^/, protocol: 'bedrock-converse' },
  ],
  priceId: 'aws',
  // Most models are served under the profiles of a region only (`us.…`).
  notServed: /^/,
  docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
});
