// Embeddings in OpenAI's form, which servers of both of its protocols offer.
import type { TaskCodec } from '../../../codec/task-codec.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import { client } from './client.ts';
import { upstream } from './upstream.ts';

export const openaiEmbeddings: TaskCodec<EmbeddingsRequest, Embeddings> = {
  protocols: ['openai-chat', 'openai-responses'],
  upstream,
  client,
};
