// Snippets that configure clients with a key: commands, code and settings, each with a model that the key may use.

interface Handed {
  readonly origin: string;
  readonly secret: string;
  readonly model: string;
}

interface Snippet {
  readonly id: string;
  readonly text: string;
}

export function snippetsOf({ origin, secret, model }: Handed): readonly Snippet[] {
  return [
    {
      id: 'curl',
      text: `curl ${origin}/v1/chat/completions \\
  -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: 'Python',
      text: `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${secret}")
completion = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Hello"}]
)
print(completion.choices[0].message.content)`,
    },
    {
      id: 'TypeScript',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${secret}' });
const completion = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(completion.choices[0].message.content);`,
    },
    {
      id: 'Claude Code',
      text: `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=${secret}
export ANTHROPIC_MODEL=${model}
claude`,
    },
    {
      id: 'Codex',
      text: `export DRAGOMAN_KEY=${secret}
cat >> ~/.codex/config.toml <<'END'
model = "${model}"
model_provider = "dragoman"
[model_providers.dragoman]
name = "Dragoman"
base_url = "${origin}/v1"
env_key = "DRAGOMAN_KEY"
wire_api = "responses"
END
codex`,
    },
  ];
}

interface Message {
  readonly name: string;
  readonly base: string;
  readonly secret: string;
  readonly model: string;
}

/** Message with all settings for the person who will use the key. */
export function messageOf({ name, base, secret, model }: Message): string {
  return `Your key for our models (${name}):

Base URL: ${base}
Key: ${secret}
Model to start with: ${model}

It works with all clients for OpenAI, Anthropic and Gemini. Keep the key secret.`;
}
