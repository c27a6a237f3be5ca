// Amazon Bedrock: Claude with Anthropic's own body, all other models with the Converse API. Authenticated by a Bedrock
// API key, or by an account's keys, which sign each request.
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
        // Converse does not define reasoning. The family table has the member.
        reasoningField: 'none',
        // "A conversation must start with a user message"; not for Claude (family table).
        assistantFirst: false,
        // Sent back with the label of the model's family.
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
        // `CountTokens` accepts Claude's own body only as base64, so Converse's is used.
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
  // Most models are available only through regional profiles (`us.…`).
  notServed: /^/,
  docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
});
