// Reads Gemini answers, recorded ones and the gateway's own: what their bytes say, by the plainest means and without
// the product's own code.
import { readAnswer } from '../rules/gemini-stream-rules.ts';
import type { GeminiRecording } from './corpus.ts';
import { at, count, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { endOf, emptySaid, saidCall } from './said.ts';
import type { Said } from './said.ts';

/** Ends that are neither normal nor for want of room: Google calls most of them reasons of safety. */
const ENDS: Readonly<Record<string, 'stop' | 'length'>> = {
  STOP: 'stop',
  UNEXPECTED_TOOL_CALL: 'stop',
  MAX_TOKENS: 'length',
};

/** The chunks of an answer as they came; a whole answer is one. */
export function geminiChunks({ res }: Pick<GeminiRecording, 'res'>): Loose[] {
  if (res.text !== undefined) return framesOf(res.text).map(({ data }) => JSON.parse(data) as Loose);
  return (Array.isArray(res.json) ? res.json : [res.json ?? {}]) as Loose[];
}

/** Reads a Gemini answer. Signatures stand in the order of their parts. */
export function readGemini(recording: Pick<GeminiRecording, 'res'>): Said {
  const chunks = geminiChunks(recording);
  const said = emptySaid();
  if (chunks.some((chunk) => at(chunk, 'error'))) return said;
  const { units, finish, tokens } = readAnswer(chunks);
  const feedback = chunks.map((chunk) => at(chunk, 'promptFeedback')).find((each) => at(each, 'blockReason'));
  // Google's words on a prompt that it blocks are all there is, and no candidate's.
  if (feedback && finish === '') said.refusal = word(at(feedback, 'blockReasonMessage'));
  else if (finish === '') return said;
  for (const { kind, text, signature } of units) {
    if (kind === 'text') said.text += text;
    if (kind === 'thought') said.reasoning += text;
    if (kind === 'call') {
      const from = text.indexOf('(');
      said.calls.push(saidCall('function', text.slice(0, from), text.slice(from + 1, -1)));
    }
    if (signature !== '') said.opaque.push(signature);
  }
  const grounding = chunks
    .map((chunk) => at(list(at(chunk, 'candidates'))[0], 'groundingMetadata'))
    .findLast((each) => list(at(each, 'groundingSupports')).length > 0);
  const pages = list(at(grounding, 'groundingChunks')).map((chunk) => at(chunk, 'web', 'uri'));
  // Addresses are told as URIs, which have no spaces.
  for (const support of list(at(grounding, 'groundingSupports')))
    for (const index of list(at(support, 'groundingChunkIndices')))
      said.citations.push(word(pages[count(index)]).replaceAll(' ', '%20'));
  said.end = endOf(ENDS[finish] ?? 'content_filter', said.calls.length);
  const { promptTokenCount = 0, toolUsePromptTokenCount = 0, cachedContentTokenCount = 0 } = tokens;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = tokens;
  if (!chunks.some((chunk) => at(chunk, 'usageMetadata'))) return said;
  said.tokens = {
    prompt: promptTokenCount + toolUsePromptTokenCount,
    cached: cachedContentTokenCount,
    written: 0,
    completion: candidatesTokenCount + thoughtsTokenCount,
    reasoning: thoughtsTokenCount,
  };
  return said;
}
