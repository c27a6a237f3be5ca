// The same steps for vectors: parts of the input, tries, and the answer in the client's format.
export { inputTokensOf } from './embedding-task.ts';
export { answerEmbeddings, decodeEmbeddings, longestInput } from './embed.ts';
