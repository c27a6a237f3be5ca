// Facts about model families, which are the same at every provider. Rows match canonical names (see `canonicalName`).
// All matching rows are merged in order, so that general rows come first. `source` names the page to check a row
// against. Most rows were written from general knowledge of that page; only what a row calls recorded was seen in real
// answers. Dates are those of the knowledge, not of a visit.
import type { ProtocolName, Quirks } from '../../canonical/index.ts';
import { mainProtocol, serverFacts } from '../../protocols/index.ts';
import { claudeFamilies } from './claude.ts';
import type { FamilyFacts, FamilyRow } from './family.ts';
import { openaiFamilies } from './openai.ts';
import { otherFamilies } from './others.ts';
import { SPECIAL_MODELS, type SpecialModel } from './special-models.ts';

export { apiName } from './claude.ts';
export type { FamilyFacts } from './family.ts';
export { SPECIAL_MODELS } from './special-models.ts';

const FAMILIES: readonly FamilyRow[] = [
  // OpenRouter labels the reasoning of models without their own format as `unknown`.
  {
    match: /^/,
    facts: { detailsFormat: 'unknown' },
    source: 'openrouter.ai: reasoning tokens; recordings 2026',
  },

  ...openaiFamilies,
  ...claudeFamilies,
  ...otherFamilies,
];

/** Bedrock's prefix of model names: regional profile and maker (`us.anthropic.`). */
const BEDROCK_PREFIX =
  /^(?:(?:us|us-gov|eu|ap|apac|au|jp|ca|sa|me|af|global)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\./;

/** Models that do not generate text: embeddings, speech, images, moderation, OCR, legacy completions. */
const NOT_TEXT =
  /embed|whisper|tts|transcri|moderation|dall-e|image|realtime|-ocr|rerank|voxtral|^(text-)?(ada|babbage|curie|davinci)(-|$)|-instruct-0914$|^gpt-3-5-turbo-instruct|-saba-|guard|safeguard|veo|imagen|sora/;

/** Text models with a special purpose. Most reject an ordinary chat. */
const ONE_PURPOSE = /audio|deep-research|computer-use|search-(preview|api)/;
/**
 * Models that vendors have retired or replaced, but price lists still contain (vendors' deprecation pages; 2026-11).
 */
const SUPERSEDED =
  /^claude-(v\d|[12](-|$)|instant|3-)|^gpt-3|^gpt-4(-(\d{4}|turbo|vision|32k|5-).*)?$|^chatgpt-4o|^o1-(preview|mini)|^gemini-1/;

/**
 * Name for matching families: lower case, without namespaces (`openai/`, `accounts/x/models/`) and variant suffixes
 * (`:free`, `:20b`), and with one separator in version numbers (`4.5`, `4p5` and `4-5` are equal).
 */
function canonicalName(name: string): string {
  const slash = name.lastIndexOf('/');
  let shortName = (slash < 0 ? name : name.slice(slash + 1)).toLowerCase();
  shortName = shortName.replace(BEDROCK_PREFIX, '');
  const colon = shortName.indexOf(':');
  if (colon > 0) shortName = shortName.slice(0, colon);
  return shortName.replace(/(\d)[.p](?=\d)/g, '$1-').replace(/\./g, '-');
}

/** True if a model of this name generates text over one of the supported protocols. */
export function isTextModel(name: string): boolean {
  return !NOT_TEXT.test(canonicalName(name)) && !specialModel(name);
}

/** Facts of a supported model with another output than text; undefined for all others. */
export function specialModel(name: string): SpecialModel | undefined {
  const shortName = canonicalName(name);
  return SPECIAL_MODELS.find(({ match }) => match.test(shortName));
}

/** True for models that are only used if requested by name. */
export function isOnlyByName(name: string): boolean {
  const shortName = canonicalName(name);
  return ONE_PURPOSE.test(shortName) || SUPERSEDED.test(shortName);
}

/**
 * All facts about a model over one protocol.
 * @param name the upstream's name, including namespaces and dates
 * @param reasoningField the provider's member for the reasoning switch
 */
export function familyFacts(
  name: string,
  protocol: ProtocolName,
  reasoningField: Quirks['reasoningField'],
): FamilyFacts {
  const shortName = canonicalName(name);
  let facts: FamilyFacts = {};
  for (const row of FAMILIES) {
    if (row.over && !row.over.includes(protocol)) continue;
    if (row.field && !(hasFields(protocol) && row.field.includes(reasoningField))) continue;
    if (!row.match.test(shortName)) continue;
    facts = { ...facts, ...row.facts, quirks: { ...facts.quirks, ...row.facts.quirks } };
  }
  return facts;
}

/** The protocol that a model prefers; undefined: none. */
export function preferredProtocol(name: string): ProtocolName | undefined {
  return familyFacts(name, mainProtocol.name, 'none').protocol;
}

/** True if servers of a protocol differ in the member for the reasoning switch. */
function hasFields(protocol: ProtocolName): boolean {
  return serverFacts(protocol).varies.reasoningField !== undefined;
}

/** Key under which spellings of a name are equal: ignores case and the separator in version numbers. */
export function looseName(name: string): string {
  return name.toLowerCase().replace(/(\d)\.(?=\d)/g, '$1-');
}
