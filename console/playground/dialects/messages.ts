// Client side of Anthropic's Messages.
import {
  dataUrl,
  isPicture,
  list,
  object,
  openCalls,
  parsedArguments,
  text,
  type Attachment,
  type Dialect,
  type Turn,
} from '../conversation.ts';

/** Thinking tokens by effort, which count towards `max_tokens`. */
const BUDGETS = { low: 1_024, medium: 4_096, high: 16_384 } as const;
/** Minimum number of tokens left for the answer after thinking. */
const ANSWER_TOKENS = 1_024;

export const messages: Dialect = {
  id: 'messages',
  label: 'Messages',
  path: () => '/v1/messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  body(turns, { model, system, effort, maxTokens, temperature, tools, mcp }) {
    const budget = effort === '' ? 0 : BUDGETS[effort];
    return {
      model,
      stream: true,
      ...(system !== '' && { system }),
      messages: turns.map(message),
      max_tokens: budget === 0 ? maxTokens : Math.max(maxTokens, budget + ANSWER_TOKENS),
      ...(budget > 0 && { thinking: { type: 'enabled', budget_tokens: budget } }),
      ...(temperature !== '' && { temperature: Number(temperature) }),
      ...((tools.length > 0 || mcp !== '') && {
        tools: [
          ...tools.map(({ name, description, parameters }) => ({
            name,
            description,
            input_schema: parameters,
          })),
          ...(mcp === '' ? [] : [{ type: 'mcp_toolset', mcp_server_name: 'playground' }]),
        ],
      }),
      ...(mcp !== '' && { mcp_servers: [{ type: 'url', name: 'playground', url: mcp }] }),
    };
  },
  read(event) {
    const key = String(event['index']);
    switch (event['type']) {
      case 'content_block_start': {
        const block = object(event['content_block']);
        const [id, name] = [text(block['id']), text(block['name'])];
        if (block['type'] === 'tool_use') return [{ type: 'call', key, id, name }];
        if (block['type'] === 'mcp_tool_use') return [{ type: 'call', key, id, name, isRun: true }];
        if (block['type'] !== 'mcp_tool_result') return [];
        const said = list(block['content']).map((part) => text(part['text']));
        return [{ type: 'result', id: text(block['tool_use_id']), text: said.join('\n') }];
      }
      case 'content_block_delta': {
        const delta = object(event['delta']);
        if (delta['type'] === 'text_delta') return [{ type: 'text', text: text(delta['text']) }];
        if (delta['type'] === 'thinking_delta') return [{ type: 'reasoning', text: text(delta['thinking']) }];
        if (delta['type'] === 'input_json_delta')
          return [{ type: 'call', key, arguments: text(delta['partial_json']) }];
        return [];
      }
      case 'error':
        return [{ type: 'error', message: text(object(event['error'])['message']) }];
      default:
        return [];
    }
  },
  libraries: {
    python: {
      template: `from anthropic import Anthropic

client = Anthropic(base_url="BASE", api_key=KEY)
for event in client.messages.create(**BODY):
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="")`,
    },
    typescript: {
      template: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: 'BASE', apiKey: KEY });
const stream = await client.messages.create(BODY);
for await (const event of stream)
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
    process.stdout.write(event.delta.text);`,
    },
  },
};

function message(turn: Turn): object {
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: [...turn.files.map(block), { type: 'text', text: turn.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]),
          ...openCalls(turn).map((call) => ({
            type: 'tool_use',
            id: call.id,
            name: call.name,
            input: parsedArguments(call),
          })),
        ],
      };
    case 'tool':
      return {
        role: 'user',
        content: turn.results.map(({ call, text: content }) => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content,
        })),
      };
  }
}

function block(file: Attachment): object {
  const source = { type: 'base64', media_type: file.mediaType, data: dataUrl(file).split(',')[1] };
  return isPicture(file) ? { type: 'image', source } : { type: 'document', title: file.name, source };
}
