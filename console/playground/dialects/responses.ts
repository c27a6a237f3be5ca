// Client side of OpenAI's Responses.
import { dataUrl, isPicture, object, openCalls, text, type Dialect, type Turn } from '../conversation.ts';

export const responses: Dialect = {
  id: 'responses',
  label: 'Responses',
  path: () => '/v1/responses',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: (turns, { model, system, effort, maxTokens, temperature, tools, mcp }) => ({
    model,
    stream: true,
    store: false,
    ...(system !== '' && { instructions: system }),
    input: turns.flatMap(items),
    max_output_tokens: maxTokens,
    ...(effort !== '' && { reasoning: { effort, summary: 'auto' } }),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...((tools.length > 0 || mcp !== '') && {
      tools: [
        ...tools.map((tool) => ({ type: 'function', strict: false, ...tool })),
        ...(mcp === ''
          ? []
          : [{ type: 'mcp', server_label: 'playground', server_url: mcp, require_approval: 'never' }]),
      ],
    }),
  }),
  read(event) {
    const key = text(event['item_id']);
    switch (event['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return [{ type: 'text', text: text(event['delta']) }];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return [{ type: 'reasoning', text: text(event['delta']) }];
      case 'response.output_item.added': {
        const item = object(event['item']);
        const [id, name] = [text(item['id']), text(item['name'])];
        if (item['type'] === 'function_call')
          return [{ type: 'call', key: id, id: text(item['call_id']), name }];
        return item['type'] === 'mcp_call' ? [{ type: 'call', key: id, id, name, isRun: true }] : [];
      }
      case 'response.function_call_arguments.delta':
      case 'response.mcp_call_arguments.delta':
        return [{ type: 'call', key, arguments: text(event['delta']) }];
      case 'response.output_item.done': {
        const item = object(event['item']);
        if (item['type'] !== 'mcp_call') return [];
        const said = text(item['output']) || JSON.stringify(item['error'] ?? '');
        return [{ type: 'result', id: text(item['id']), text: said }];
      }
      case 'response.failed':
        return [{ type: 'error', message: text(object(object(event['response'])['error'])['message']) }];
      case 'error':
        return [{ type: 'error', message: text(event['message']) }];
      default:
        return [];
    }
  },
  libraries: {
    python: {
      template: `from openai import OpenAI

client = OpenAI(base_url="BASE/v1", api_key=KEY)
for event in client.responses.create(**BODY):
    if event.type == "response.output_text.delta":
        print(event.delta, end="")`,
    },
    typescript: {
      template: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: 'BASE/v1', apiKey: KEY });
const stream = await client.responses.create(BODY);
for await (const event of stream)
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);`,
    },
  },
};

function items(turn: Turn): readonly object[] {
  switch (turn.role) {
    case 'user':
      return [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: turn.text },
            ...turn.files.map((file) =>
              isPicture(file)
                ? { type: 'input_image', image_url: dataUrl(file) }
                : { type: 'input_file', filename: file.name, file_data: dataUrl(file) },
            ),
          ],
        },
      ];
    case 'assistant':
      return [
        ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
        ...openCalls(turn).map(({ id, name, arguments: given }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: given || '{}',
        })),
      ];
    case 'tool':
      return turn.results.map(({ call, text: output }) => ({
        type: 'function_call_output',
        call_id: call.id,
        output,
      }));
  }
}
