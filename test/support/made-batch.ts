// A batch of Chat Completions over HTTP: uploaded and begun.
import { TEST_KEY } from './harness.ts';

/** @param models one for each line, which is `line-N` from 1 @returns the id of the batch */
export async function madeBatch(
  { origin }: { readonly origin: string },
  models: readonly string[],
  key = TEST_KEY,
): Promise<string> {
  const url = '/v1/chat/completions';
  const text = models
    .map((model, at) => {
      const body = { model, messages: [{ role: 'user', content: `Line ${at + 1}.` }] };
      return JSON.stringify({ custom_id: `line-${at + 1}`, method: 'POST', url, body });
    })
    .join('\n');
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new File([text], 'lines.jsonl'));
  const authorization = `Bearer ${key}`;
  const input = await idOf(
    await fetch(`${origin}/v1/files`, { method: 'POST', headers: { authorization }, body: form }),
  );
  return idOf(
    await fetch(`${origin}/v1/batches`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ input_file_id: input, endpoint: url, completion_window: '24h' }),
    }),
  );
}

async function idOf(answer: Response): Promise<string> {
  const body = (await answer.json()) as { readonly id?: string };
  if (body.id === undefined) throw new Error(`${answer.status}: ${JSON.stringify(body)}`);
  return body.id;
}
