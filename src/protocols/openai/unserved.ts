// Parts of OpenAI's API that the gateway does not serve, and paths of other programs whose clients may call it. Each
// names the closest served alternative.
import { TEXTS } from '../../canonical/index.ts';
import type { UnservedPart } from '../protocol.ts';

function below(names: string, nearest: string): UnservedPart {
  return { match: new RegExp(`^/(?:api/)?(?:v1/)?(?:${names})(?:/|$)`), nearest };
}

/** OpenAI's own libraries and API reference, 2026-11; the rest from the documentation of those programs, 2026-11. */
export const UNSERVED: readonly UnservedPart[] = [
  below('realtime|live', 'For text, use the WebSocket at `/v1/responses`.'),
  below('completions', 'Use `POST /v1/chat/completions`.'),
  below(
    'chat/completions/[^/]+',
    '`POST /v1/responses` stores responses; read them with `GET /v1/responses/{id}`.',
  ),
  below('audio', 'For audio input, send `input_audio` in `POST /v1/chat/completions`.'),
  below('images', 'For images, use `POST /v1/responses` with the tool `image_generation`.'),
  below('videos', `Videos are not supported. ${TEXTS.askProvider}`),
  below('uploads', 'Upload whole files with `POST /v1/files`.'),
  below(
    'assistants|threads',
    'Use `POST /v1/conversations` and `POST /v1/responses` for stored conversations.',
  ),
  below('vector_stores', 'Use the tool `file_search` of `POST /v1/responses` with a provider that runs it.'),
  below(
    'containers',
    'Use the tool `code_interpreter` of `POST /v1/responses` with a provider that runs it.',
  ),
  below('rerank', 'Compare texts by their embeddings from `POST /v1/embeddings`.'),
  below('organization', TEXTS.managementHas),
  below(
    'moderations|safety|content_provenance_checks|fine_tuning|fine-tunes|evals|graders|agents|chatkit|decisions|skills|vaults|webhook_endpoints|webhook_event_types',
    TEXTS.askProvider,
  ),
  // Ollama's own API.
  {
    match:
      /^\/api\/(?:chat|generate|embed|embeddings|tags|show|ps|pull|push|create|copy|delete|version|blobs\/.*)$/,
    nearest: 'The base URL of OpenAI-compatible clients is `/v1`: use `POST /v1/chat/completions`.',
  },
  // Azure's addresses.
  { match: /^\/openai\//, nearest: 'The base URL is `/v1`; name the model in the body.' },
  // Cohere's paths.
  {
    match: /^\/v2\/(?:chat|embed|rerank)$/,
    nearest: 'The base URL is `/v1`: use `POST /v1/chat/completions`.',
  },
  // Amazon Bedrock's paths.
  {
    match: /^\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/,
    nearest: 'Use `POST /v1/messages` or `POST /v1/chat/completions`, and name the model in the body.',
  },
];
