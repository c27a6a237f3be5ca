// Decodes the token counts of Google's protocols into the usage vector. Only their names differ.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { Usage } from '../../canonical/index.ts';
import { asArray, asObject, asString } from '../../base/json/index.ts';
import { Conflicts, tokenCount, TokenRoom, COUNTS } from '../usage/token-count.ts';

/** Names of the counts in a protocol. */
export interface UsageNames {
  readonly input: string;
  /** Tokens from tools, outside the input. */
  readonly toolInput: string;
  /** Part of the input. */
  readonly cached: string;
  readonly output: string;
  /** Outside the output. */
  readonly thoughts: string;
  /** Lists of counts by modality. */
  readonly inputDetails: string;
  readonly cachedDetails: string;
  readonly outputDetails: string;
  /** Count of one modality. */
  readonly count: string;
}

/** @param raw counts in tokens; missing ones are 0 @param searches queries of the hosted search */
export function usageOf(raw: JsonObject, names: UsageNames, searches: number): Usage {
  const count = (name: string): number => tokenCount(raw[name]);
  const ofModality = (details: string, modality: string): number =>
    modalityTokens(raw[details], modality, names.count);
  const conflicts = new Conflicts();
  const room = new TokenRoom(count(names.input) + count(names.toolInput), conflicts);
  const cacheRead = room.take(count(names.cached), 'cache_read');
  const { inputDetails, cachedDetails } = names;
  const audio = room.takeRest(
    ofModality(inputDetails, 'audio') - ofModality(cachedDetails, 'audio'),
    'audio',
  );
  const image = room.takeRest(
    ofModality(inputDetails, 'image') - ofModality(cachedDetails, 'image'),
    'image',
  );
  const output = new TokenRoom(count(names.output), conflicts);
  const spoken = output.take(ofModality(names.outputDetails, 'audio'), 'output_audio');
  return {
    input: { uncached: room.left, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, audio, image },
    output: { text: output.left, reasoning: count(names.thoughts), audio: spoken },
    // Absent thoughts mean that there are none.
    ...COUNTS,
    tools: searches > 0 ? { web_search: searches } : {},
    acceptedPrediction: 0,
    rejectedPrediction: 0,
    estimated: false,
    inconsistent: conflicts.foundIn(raw),
    raw,
  };
}

function modalityTokens(details: JsonValue | undefined, modality: string, name: string): number {
  let tokens = 0;
  for (const element of asArray(details)) {
    const entry = asObject(element);
    if (asString(entry['modality'])?.toLowerCase() === modality) tokens += tokenCount(entry[name]);
  }
  return tokens;
}
