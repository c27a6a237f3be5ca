// Client side of Gemini's generateContent.
import {
  list,
  object,
  openCalls,
  parsedArguments,
  text,
  type Dialect,
  type Piece,
  type Turn,
} from '../conversation.ts';

export const gemini: Dialect = {
  id: 'gemini',
  label: 'Gemini',
  path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
  headers: (key) => ({ 'x-goog-api-key': key }),
  body: (turns, { system, effort, maxTokens, temperature, tools }) => ({
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    contents: turns.map(content),
    generationConfig: {
      maxOutputTokens: maxTokens,
      ...(temperature !== '' && { temperature: Number(temperature) }),
      ...(effort !== '' && {
        thinkingConfig: { includeThoughts: true, thinkingLevel: effort.toUpperCase() },
      }),
    },
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parametersJsonSchema: parameters,
          })),
        },
      ],
    }),
  }),
  read(event) {
    const error = event['error'];
    if (error !== undefined) return [{ type: 'error', message: text(object(error)['message']) }];
    const [candidate] = list(event['candidates']);
    return list(object(candidate?.['content'])['parts']).flatMap((part): readonly Piece[] => {
      const call = object(part['functionCall']);
      if (text(call['name']) !== '') {
        // Gemini streams whole calls. Calls without an id are identified by their name.
        const id = text(call['id']) || text(call['name']);
        return [
          {
            type: 'call',
            key: `${id} ${JSON.stringify(call['args'])}`,
            id,
            name: text(call['name']),
            arguments: JSON.stringify(call['args'] ?? {}),
          },
        ];
      }
      if (text(part['text']) === '') return [];
      return [{ type: part['thought'] === true ? 'reasoning' : 'text', text: text(part['text']) }];
    });
  },
  libraries: {
    python: {
      template: `from google import genai

client = genai.Client(api_key=KEY, http_options={"base_url": "BASE"})
for chunk in client.models.generate_content_stream(**BODY):
    print(chunk.text or "", end="")`,
      given: forLibrary,
    },
    typescript: {
      template: `import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: 'BASE' } });
const stream = await client.models.generateContentStream(BODY);
for await (const chunk of stream) process.stdout.write(chunk.text ?? '');`,
      given: forLibrary,
    },
  },
};

/** The libraries take everything except the contents as one `config`. */
function forLibrary(body: Readonly<Record<string, unknown>>, model: string): unknown {
  const { contents, generationConfig, ...rest } = body;
  return { model, contents, config: { ...object(generationConfig), ...rest } };
}

function content(turn: Turn): object {
  switch (turn.role) {
    case 'user':
      return {
        role: 'user',
        parts: [
          { text: turn.text },
          ...turn.files.map(({ mediaType, data }) => ({ inlineData: { mimeType: mediaType, data } })),
        ],
      };
    case 'assistant':
      return {
        role: 'model',
        parts: [
          ...(turn.text === '' ? [] : [{ text: turn.text }]),
          ...openCalls(turn).map((call) => ({
            functionCall: { ...idOf(call), name: call.name, args: parsedArguments(call) },
          })),
        ],
      };
    case 'tool':
      return {
        role: 'user',
        parts: turn.results.map(({ call, text: output }) => ({
          functionResponse: { ...idOf(call), name: call.name, response: { output } },
        })),
      };
  }
}

/** Omits an id that was derived from the name. */
function idOf({ id, name }: { readonly id: string; readonly name: string }): { readonly id?: string } {
  return id === name ? {} : { id };
}
