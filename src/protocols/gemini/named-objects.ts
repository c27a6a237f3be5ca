// Objects of a Google account or project that a Gemini request names: cached contents, stores of files, data of a search, secrets.
// Source: resource names of "Gemini API" and of Vertex AI's `Tool` and `GenerateContentRequest`, 2026-11.
import { areTexts, type CanonicalRequest, isOpenAddress } from '../../canonical/index.ts';
import { fileIdOf } from './files/index.ts';
import { idsIn, idsInTools, type NamedObject } from '../members/named-objects.ts';

/** Names of resources begin with their collection. */
const RESOURCE =
  /^(?:projects|locations|cachedContents|fileSearchStores|ragStores|corpora|ragCorpora|files|tunedModels|collections|dataStores|engines)\//;
/** Places of files: in parts, and in those of a function's answer. Arguments and results hold the client's own words. */
const FILE_PLACE =
  /^\w+(?:\[\d+\])?(?:\.parts(?:\[\d+\])?|\.function_?[rR]esponse)+\.(?:fileData|file_data)\.\w+$/;
const CONVERSATION = ['contents', 'systemInstruction', 'system_instruction'] as const;
/** Members of the conversation and of the answer's form: these hold texts. */
const TEXTS: ReadonlySet<string> = new Set([
  ...CONVERSATION,
  'tools',
  'generationConfig',
  'generation_config',
]);

/** The names of objects in the vendor's account. Of media, also those that lie deeper than parts, such as in a function's answer. */
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
