// Objects of a Google account or project that a Gemini request names: cached contents, stores of files, data of a search, secrets.
// Source: resource names of "Gemini API" and of Vertex AI's `Tool` and `GenerateContentRequest`, 2026-11.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { idsIn, idsInTools, type NamedObject } from '../members/named-objects.ts';

/** Names of resources begin with their collection. */
const RESOURCE =
  /^(?:projects|locations|cachedContents|fileSearchStores|ragStores|corpora|ragCorpora|files|tunedModels|collections|dataStores|engines)\//;
/** Members of the conversation and of the answer's form: these hold texts. */
const TEXTS: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'generationConfig',
  'generation_config',
]);

/** The names of objects in the vendor's account, but for those of media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  const ids = [...idsInTools(request, isResource)];
  for (const name in request.raw)
    if (!TEXTS.has(name))
      ids.push(
        ...idsIn(request.raw[name], name, (member, text) => isResource(member, text) || isCache(name)),
      );
  return ids;
}

function isResource(_member: string, text: string): boolean {
  return RESOURCE.test(text);
}

function isCache(name: string): boolean {
  return name === 'cachedContent' || name === 'cached_content';
}
