// Embeddings codecs of all protocols.
import { bedrockEmbeddings } from '../../bedrock-converse/tasks/embeddings/index.ts';
import { geminiEmbeddings } from '../../gemini/tasks/embeddings/index.ts';
import { openaiEmbeddings } from '../../openai/tasks/embeddings/index.ts';
import type { TaskCodec } from '../../codec/task-codec.ts';
import type { Embeddings, EmbeddingsRequest } from './model.ts';

export const EMBEDDINGS_CODECS: readonly TaskCodec<EmbeddingsRequest, Embeddings>[] = [
  openaiEmbeddings,
  geminiEmbeddings,
  bedrockEmbeddings,
];
