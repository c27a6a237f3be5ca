// Embeddings in the forms of Gemini and of Vertex AI, which hosts it.
import type { TaskCodec } from '../../../codec/task-codec.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import { client } from './client.ts';
import { upstream } from './upstream.ts';
import { vertex } from './vertex.ts';

export const geminiEmbeddings: TaskCodec<EmbeddingsRequest, Embeddings> = {
  protocols: ['gemini'],
  upstream,
  hosted: vertex,
  client,
};
