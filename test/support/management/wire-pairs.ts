// One request in each protocol that clients speak, for a model behind each that upstreams do, and where each protocol has what
// is in it.
import { CONVERSE } from '../upstreams/every-upstream.ts';

/** Places of the question, the schema of a tool, the limit, and the text of the whole answer in a protocol. */
export interface Places {
  readonly question: string;
  readonly schema: string;
  readonly limit: string;
  readonly answer: string;
}

export const QUESTION = 'no tools: What is 6 x 7?';
export const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

export const PLACES: Readonly<Record<string, Places>> = {
  'openai-chat': {
    question: 'messages[1].content',
    schema: 'tools[0].function.parameters',
    limit: 'max_completion_tokens',
    answer: 'choices[].message.content',
  },
  'openai-responses': {
    question: 'input[0].content[0].text',
    schema: 'tools[0].parameters',
    limit: 'max_output_tokens',
    answer: 'output[].content[].text',
  },
  'anthropic-messages': {
    question: 'messages[0].content',
    schema: 'tools[0].input_schema',
    limit: 'max_tokens',
    answer: 'content[].text',
  },
  gemini: {
    question: 'contents[0].parts[0].text',
    schema: 'tools[0].functionDeclarations[0].parametersJsonSchema',
    limit: 'generationConfig.maxOutputTokens',
    answer: 'candidates[].content.parts[].text',
  },
  'bedrock-converse': {
    question: 'messages[0].content[0].text',
    schema: 'toolConfig.tools[0].toolSpec.inputSchema.json',
    limit: 'inferenceConfig.maxTokens',
    answer: 'output.message.content[].text',
  },
};

/** One request in each protocol that clients speak, with something in it that few others have a place for. */
export const CLIENTS: Readonly<
  Record<string, { ask(model: string): readonly [path: string, body: object] }>
> = {
  'openai-chat': {
    ask: (model) => [
      '/v1/chat/completions',
      {
        model,
        max_completion_tokens: 500,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: QUESTION },
        ],
        tools: [{ type: 'function', function: { name: 'get_weather', parameters: SCHEMA } }],
      },
    ],
  },
  'openai-responses': {
    ask: (model) => [
      '/v1/responses',
      {
        model,
        max_output_tokens: 500,
        instructions: 'Be brief.',
        input: [{ role: 'user', content: [{ type: 'input_text', text: QUESTION }] }],
        tools: [{ type: 'function', name: 'get_weather', parameters: SCHEMA, strict: false }],
      },
    ],
  },
  'anthropic-messages': {
    ask: (model) => [
      '/v1/messages',
      {
        model,
        max_tokens: 500,
        system: 'Be brief.',
        messages: [{ role: 'user', content: QUESTION }],
        tools: [{ name: 'get_weather', input_schema: SCHEMA }],
      },
    ],
  },
  gemini: {
    ask: (model) => [
      `/v1beta/models/${model}:generateContent`,
      {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: QUESTION }] }],
        generationConfig: { maxOutputTokens: 500 },
        tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: SCHEMA }] }],
      },
    ],
  },
};

export const MODELS: Readonly<Record<string, string>> = {
  'openai-chat': 'sim/chat',
  'openai-responses': 'sim/responses',
  'anthropic-messages': 'sim/messages',
  gemini: 'sim/gemini',
  'bedrock-converse': CONVERSE,
};

/** Each client's protocol in front of each upstream's. */
export const PAIRS = Object.keys(CLIENTS).flatMap((client) =>
  Object.keys(MODELS).map((upstream) => ({ client, upstream })),
);
