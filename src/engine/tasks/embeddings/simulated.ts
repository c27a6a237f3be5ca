// Embeddings of the simulated provider, with its own model and OpenAI's wire format. Deterministic, and similar for
// texts that share words, so that searches return results.
import { asArray, isJsonArray, type JsonObject, type JsonValue } from '../../../base/json/index.ts';
import type { SimulatedServices, SimulatedTask } from '../../../canonical/index.ts';

const MODEL = 'embed';
const MOST_DIMENSIONS = 256;
const MOST_INPUTS = 2048;
/** Maximum tokens of one input. */
const CONTEXT_LENGTH = 8192;

export const SIMULATED: SimulatedTask = {
  path: '/embeddings',
  models: [
    {
      name: MODEL,
      description: `Embeddings of ${MOST_DIMENSIONS} dimensions or fewer; texts that share words are alike.`,
      makes: 'embeddings',
      contextLength: CONTEXT_LENGTH,
      inputPrice: 0.1,
    },
  ],
  answer,
};

function answer(body: JsonObject, model: string, services: SimulatedServices): JsonObject | null {
  const { input, encoding_format: format = 'float', dimensions = MOST_DIMENSIONS } = body;
  let isGood = true;
  const refuse: SimulatedServices['refuse'] = (...problem) => {
    isGood = false;
    services.refuse(...problem);
  };
  if (model !== MODEL)
    refuse(`The model '${model}' does not support embeddings.`, 'model', 'model_not_found', 404);
  const inputs = inputsOf(input);
  if (inputs.length === 0 || inputs.length > MOST_INPUTS || !inputs.every(isInput))
    refuse("'$.input' is invalid. Please check the API reference.", 'input');
  if (format !== 'float' && format !== 'base64')
    refuse("'$.encoding_format' must be one of 'float', 'base64'.", 'encoding_format');
  const isLength = typeof dimensions === 'number' && dimensions >= 1 && dimensions <= MOST_DIMENSIONS;
  if (!isLength) refuse(`'$.dimensions' must be from 1 to ${MOST_DIMENSIONS}.`, 'dimensions');
  const counts = inputs.map((one) =>
    typeof one === 'string' ? services.tokensOf(one) : asArray(one).length,
  );
  if (counts.some((count) => count > CONTEXT_LENGTH))
    refuse(`This model's maximum context length is ${CONTEXT_LENGTH} tokens.`, 'input');
  if (!isGood || !isLength) return null;
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  return {
    object: 'list',
    data: inputs.map((one, index) => {
      const vector = vectorOf(one, dimensions);
      return {
        object: 'embedding',
        index,
        embedding: format === 'base64' ? toBase64(vector) : Array.from(vector),
      };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function inputsOf(input: JsonValue | undefined): readonly JsonValue[] {
  if (!isJsonArray(input)) return input === undefined ? [] : [input];
  return typeof input[0] === 'number' ? [input] : input;
}

function isInput(input: JsonValue): boolean {
  return input !== '' && (typeof input === 'string' || (isJsonArray(input) && input.length > 0));
}

/** Each word or token adds its own direction; the sum has length 1. */
function vectorOf(input: JsonValue, dimensions: number): Float32Array {
  const words = typeof input === 'string' ? input.toLowerCase().split(/[^\p{L}\p{N}]+/u) : asArray(input);
  const sums = Array.from({ length: dimensions }, () => 0);
  for (const word of words) {
    let state = hash(String(word));
    for (let at = 0; at < dimensions; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      sums[at] = (sums[at] ?? 0) + state / 2 ** 31 - 1;
    }
  }
  const length = Math.hypot(...sums) || 1;
  return Float32Array.from(sums, (sum) => sum / length);
}

/** FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return state >>> 0;
}

function toBase64(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString('base64');
}
