// Tests a new key with one short request.

interface Tried {
  readonly isGood: boolean;
  readonly status: number;
  /** The answer, or the error message. */
  readonly text: string;
  readonly ms: number;
}

/** Maximum characters of an answer that are shown. Errors are shown in full, because they end with what to do. */
const MOST_CHARS = 200;

export async function tryKey(secret: string, model: string): Promise<Tried> {
  const begin = performance.now();
  const answer = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_completion_tokens: 64,
      messages: [{ role: 'user', content: 'Answer with one word: hello' }],
    }),
    credentials: 'omit',
  });
  const body = (await answer.json().catch(() => ({}))) as {
    readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
    readonly error?: { readonly message?: string };
  };
  const text = answer.ok
    ? (body.choices?.[0]?.message?.content ?? '').slice(0, MOST_CHARS)
    : (body.error?.message ?? '');
  return {
    isGood: answer.ok,
    status: answer.status,
    text,
    ms: performance.now() - begin,
  };
}
