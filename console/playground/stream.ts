// Sends a request and reads the streamed response.
import { refusal } from '../api/client.ts';
import type { Dialect, Json, Piece, Settings, Turn } from './conversation.ts';

interface Streaming {
  /** Called with the id of the request's record. */
  readonly onStart: (id: string | null) => void;
  readonly onPiece: (piece: Piece) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the response has ended. @throws ApiError for an error response, AbortError if aborted */
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
  if (!answer.ok) throw refusal(answer.status, await answer.text());
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
