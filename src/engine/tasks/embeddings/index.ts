// Embeddings task: vectors of texts. Inputs are independent, so a list may be sent in parts.
import { inputTokens, NO_USAGE, type TaskFacts, type Usage } from '../../../canonical/index.ts';
import { estimatedTokens } from '../../../accounts/ledger/index.ts';
import { EMBEDDINGS_CODECS } from '../../../protocols/tasks/embeddings/codecs.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../protocols/tasks/embeddings/model.ts';
import { codecTask } from '../codec-task.ts';
import { SIMULATED } from './simulated.ts';
import { formatVectors } from './vector-format.ts';

const MODELS_PATH = '/embeddings/models';

const FACTS: TaskFacts = {
  name: 'embeddings',
  makes: 'embeddings',
  misfit: 'does not support embeddings',
  mostOutputTokens: 0,
  type: { name: 'embedding', servedBy: 'use POST /v1/embeddings for embeddings' },
  // Vectors of different models are not comparable, so an automatic choice would make stored ones unusable.
  mustBeNamed: `must be an embedding model, or a list of models to choose from. GET /v1${MODELS_PATH} lists them.`,
};

export const embeddings = codecTask<EmbeddingsRequest, Embeddings>(
  {
    facts: FACTS,
    codecs: EMBEDDINGS_CODECS,
    sample: { inputs: ['hello'], format: undefined, dimensions: undefined, user: undefined, extra: {} },
    needs: (asked) => ({
      chars: asked.inputs.reduce((longest, { length }) => Math.max(longest, length), 0),
      tokens: inputTokens(estimatedUsage(asked)),
    }),
    split: partsOf,
    read: (made, asked) => ({ ...made, vectors: formatVectors(made, asked) }),
    charge: ({ usage }) => usage,
    estimate: estimatedUsage,
    join: ([first, ...others]) => {
      if (!first) throw new TypeError('no response to join');
      if (others.length === 0) return first;
      return { ...first, vectors: [first, ...others].flatMap(({ vectors }) => vectors) };
    },
  },
  {
    models: {
      id: 'listEmbeddingModels',
      path: MODELS_PATH,
      tag: 'Embeddings',
      summary: 'Lists the embedding models.',
    },
    simulated: SIMULATED,
  },
);

/** Splits the request into parts of at most `most` inputs. */
function partsOf(asked: EmbeddingsRequest, most: number): readonly EmbeddingsRequest[] {
  const { inputs, notes } = asked;
  if (inputs.length <= most) return [asked];
  const count = Math.ceil(inputs.length / most);
  return Array.from({ length: count }, (_, place) => ({
    ...asked,
    inputs: inputs.slice(place * most, (place + 1) * most),
    notes: notes?.slice(place * most, (place + 1) * most),
  }));
}

/** Exact for inputs that are already tokens. */
function estimatedUsage({ inputs }: EmbeddingsRequest): Usage {
  const counts = inputs.map((input) =>
    typeof input === 'string' ? estimatedTokens(input.length) : input.length,
  );
  const uncached = counts.reduce((sum, count) => sum + count, 0);
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached }, estimated: true };
}
