// Sends a request as a client of its protocol, and reads the answer as it comes.
import type { Dialect, Json, Piece, Settings, Turn } from './conversation.ts';

export interface Streaming {
  /** Id of the record of the request. */
  readonly onStart: (id: string | null) => void;
  readonly onPiece: (piece: Piece) => void;
  readonly signal: AbortSignal;
}

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Resolves at the end of the answer. @throws Refused where the gateway refuses, AbortError where it is stopped */
export async function streamAnswer(
  dialect: Dialect,
  key: string,
  turns: readonly Turn[],
  settings: Settings,
  { onStart, onPiece, signal }: Streaming,
): Promise<void> {
  const answer = await fetch(dialect.path(settings.model), {
    method: 'POST',
    headers: { ...dialect.headers(key), 'content-type': 'application/json' },
    body: JSON.stringify(dialect.body(turns, settings)),
    credentials: 'omit',
    signal,
  });
  onStart(answer.headers.get('x-request-id'));
  if (!answer.ok) throw new Refused(answer.status, messageIn(await answer.text()));
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : '';
      if (data === '' || data === '[DONE]') continue;
      for (const piece of dialect.read(JSON.parse(data) as Json)) onPiece(piece);
    }
  }
}

/** What a refusal says; all of it where it is none of ours. */
export function messageIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string } };
    return error?.message ?? body;
  } catch {
    return body;
  }
}
