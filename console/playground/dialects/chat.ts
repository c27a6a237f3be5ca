// Client side of Chat Completions.
import {
  dataUrl,
  isPicture,
  list,
  object,
  openCalls,
  text,
  type Dialect,
  type Piece,
  type Turn,
} from '../conversation.ts';

export const chat: Dialect = {
  id: 'chat',
  label: 'Chat Completions',
  path: () => '/v1/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  body: (turns, { model, system, effort, maxTokens, temperature, tools, mcp }) => ({
    model,
    stream: true,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(messages)],
    max_completion_tokens: maxTokens,
    ...(effort !== '' && { reasoning: { effort } }),
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...((tools.length > 0 || mcp !== '') && {
      tools: [
        ...tools.map((tool) => ({ type: 'function', function: tool })),
        ...(mcp === ''
          ? []
          : [{ type: 'mcp', server_label: 'playground', server_url: mcp, require_approval: 'never' }]),
      ],
    }),
  }),
  read(event) {
    const error = event['error'];
    if (error !== undefined) return [{ type: 'error', message: text(object(error)['message']) }];
    return list(event['choices']).flatMap(({ delta }) => {
      const { content, reasoning_content: thought, reasoning, tool_calls: calls } = object(delta);
      const pieces: Piece[] = [];
      const thoughts = text(thought) || text(reasoning);
      if (thoughts !== '') pieces.push({ type: 'reasoning', text: thoughts });
      if (text(content) !== '') pieces.push({ type: 'text', text: text(content) });
      for (const call of list(calls)) {
        const { name, arguments: given } = object(call['function']);
        pieces.push({
          type: 'call',
          key: String(call['index']),
          id: text(call['id']) || undefined,
          name: text(name) || undefined,
          arguments: text(given),
        });
      }
      return pieces;
    });
  },
  libraries: {
    python: {
      template: `from openai import OpenAI

client = OpenAI(base_url="BASE/v1", api_key=KEY)
stream = client.chat.completions.create(**BODY)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`,
    },
    typescript: {
      template: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: 'BASE/v1', apiKey: KEY });
const stream = await client.chat.completions.create(BODY);
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
    },
  },
};

function messages(turn: Turn): readonly object[] {
  switch (turn.role) {
    case 'user':
      return [
        {
          role: 'user',
          content:
            turn.files.length === 0
              ? turn.text
              : [
                  { type: 'text', text: turn.text },
                  ...turn.files.map((file) =>
                    isPicture(file)
                      ? { type: 'image_url', image_url: { url: dataUrl(file) } }
                      : { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } },
                  ),
                ],
        },
      ];
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: turn.text || null,
          ...(openCalls(turn).length > 0 && {
            tool_calls: openCalls(turn).map(({ id, name, arguments: given }) => ({
              id,
              type: 'function',
              function: { name, arguments: given || '{}' },
            })),
          }),
        },
      ];
    case 'tool':
      return turn.results.map(({ call, text: content }) => ({
        role: 'tool',
        tool_call_id: call.id,
        content,
      }));
  }
}
