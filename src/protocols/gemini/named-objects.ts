// Objects of a Google account or project that a Gemini request names: cached contents, file stores, search data,
// secrets. Source: resource names of "Gemini API" and of Vertex AI's `Tool` and `GenerateContentRequest`, 2026-11.
import { areTexts, type CanonicalRequest, isOpenAddress } from '../../canonical/index.ts';
import { fileIdOf } from './files/index.ts';
import { idsIn, idsInTools, type NamedObject } from '../members/named-objects.ts';

/** Resource names begin with their collection. */
const RESOURCE =
  /^(?:projects|locations|cachedContents|fileSearchStores|ragStores|corpora|ragCorpora|files|tunedModels|collections|dataStores|engines)\//;
/** Paths of files: in parts, and in parts of a function response. Arguments and results contain the client's own text. */
const FILE_PLACE =
  /^\w+(?:\[\d+\])?(?:\.parts(?:\[\d+\])?|\.function_?[rR]esponse)+\.(?:fileData|file_data)\.\w+$/;
const CONVERSATION = ['contents', 'systemInstruction', 'system_instruction'] as const;
/** Members of the conversation and of the response format, which contain text. */
const TEXTS: ReadonlySet<string> = new Set([
  ...CONVERSATION,
  'tools',
  'generationConfig',
  'generation_config',
]);

/**
 * Returns the names of objects in the vendor's account. Includes media, even if nested below parts, such as in a
 * function response.
 */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  const ids = [...idsInTools(request, isResource)];
  if (!areTexts(request.items))
    for (const name of CONVERSATION)
      ids.push(...idsIn(request.raw[name], name, isFile).filter(({ path }) => FILE_PLACE.test(path)));
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

function isFile(member: string, text: string): boolean {
  return (
    (member === 'fileUri' || member === 'file_uri') &&
    !isOpenAddress(text.trim()) &&
    fileIdOf(text) === undefined
  );
}

function isCache(name: string): boolean {
  return name === 'cachedContent' || name === 'cached_content';
}
