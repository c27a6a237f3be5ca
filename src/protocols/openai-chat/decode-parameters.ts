// The parameters of a request that are objects: answer format and web search. Owns their forms (OpenAI API reference, "Create
// chat completion"); must not know which model takes which of them.
import type { Problems, ResponseFormat, WebSearchOptions } from '../../canonical/index.ts';
import { readObject, readString, readWord, type Member } from '../read-member.ts';
import { decodeSchemaFormat } from '../openai/decode-schema-format.ts';
import { LEVELS } from './member-kinds.ts';

/** Decodes `response_format`, whose schema is nested below `json_schema` in this protocol. */
export function decodeResponseFormat(value: Member, problems: Problems): ResponseFormat | undefined {
  const raw = readObject(value, 'response_format', problems);
  if (!raw) return undefined;
  const types = ['text', 'json_object', 'json_schema'] as const;
  const type = readWord(raw['type'] ?? '', 'response_format.type', problems, types);
  if (type === undefined) return undefined;
  const schema =
    type === 'json_object' ? readObject(raw['schema'], 'response_format.schema', problems) : undefined;
  // The older form of llama.cpp, Together and Fireworks (their documentation, 2026-11), in the newer one's words.
  if (schema) return { type: 'json_schema', name: 'answer', schema };
  if (type !== 'json_schema') return { type };
  const path = 'response_format.json_schema';
  const body = readObject(raw['json_schema'], path, problems);
  if (!body) {
    if (raw['json_schema'] === undefined || raw['json_schema'] === null) problems.add(path, 'is required');
    return undefined;
  }
  return decodeSchemaFormat(body, path, problems);
}

/**
 * Decodes `web_search_options`; an empty object switches search on. The location comes nested below
 * `approximate` (OpenAI) or flat, and is flat afterwards.
 */
export function decodeWebSearch(value: Member, problems: Problems): WebSearchOptions | undefined {
  const raw = readObject(value, 'web_search_options', problems);
  if (!raw) return undefined;
  const size = 'web_search_options.search_context_size';
  const contextSize = readWord(raw['search_context_size'], size, problems, LEVELS);
  const path = 'web_search_options.user_location';
  const location = readObject(raw['user_location'], path, problems);
  if (!location) return { contextSize };
  readWord(location['type'], `${path}.type`, problems, ['approximate'] as const);
  const isNested = location['approximate'] !== undefined;
  const at = isNested ? `${path}.approximate` : path;
  const place = isNested ? readObject(location['approximate'], at, problems) : location;
  const userLocation = {
    type: 'approximate',
    city: readString(place?.['city'], `${at}.city`, problems),
    country: readString(place?.['country'], `${at}.country`, problems),
    region: readString(place?.['region'], `${at}.region`, problems),
    timezone: readString(place?.['timezone'], `${at}.timezone`, problems),
  };
  return { contextSize, userLocation };
}
