// Amazon Bedrock's engine for OpenAI's protocols, with a Bedrock API key or an account's keys.
import { defineProvider, speaks } from '../provider.ts';

const MANTLE = 'https://bedrock-mantle.{region}.api.aws/v1';

export const bedrockMantle = defineProvider({
  id: 'bedrock-mantle',
  name: 'Amazon Bedrock (OpenAI-compatible)',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  namedOnly: true,
  credential: 'aws',
  settings: { region: { variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'] } },
  protocols: {
    'openai-chat': speaks(MANTLE, { unsupported: ['webSearch'] }),
    'openai-responses': speaks(MANTLE, { reasoningFormat: 'bedrock-responses-v1' }),
  },
  defaultProtocol: 'openai-chat',
  priceId: 'aws',
  notServed: /^/,
  docs: 'https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html',
});
