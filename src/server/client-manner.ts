// Whose client a request is of where its path serves several or none: known by headers that only one family of clients
// sends, or by the beginning of the path. Answers nothing.
import type { ServerCodec } from '../protocols/index.ts';
import { withServer } from './reply.ts';

const anthropic = withServer('anthropic-messages');
const gemini = withServer('gemini');
const openai = withServer('openai-chat');

/** Anthropic's own libraries send a version with every request, and one base is theirs alone. */
export function isAnthropics({ headers, url }: Request): boolean {
  return headers.has('anthropic-version') || new URL(url).pathname.startsWith('/api/anthropic/');
}

/** Google's own libraries say who they are; others are known by where they put the key. */
export function isGoogles({ headers, url }: Request): boolean {
  return (
    headers.has('x-goog-api-client') || headers.has('x-goog-api-key') || new URL(url).searchParams.has('key')
  );
}

/** The protocol in which a request is answered that reached nothing. */
export function serverFor(request: Request): ServerCodec {
  if (isAnthropics(request)) return anthropic.server;
  const isGoogleBase = /^\/(?:v1beta|api\/vertex-ai)\//.test(new URL(request.url).pathname);
  return isGoogleBase || isGoogles(request) ? gemini.server : openai.server;
}
