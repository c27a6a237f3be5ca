// Validates requests like the Gemini API: members, configuration and tools (API reference, "Generating content",
// 2026-11). `gemini-history.ts` checks `contents`. Messages imitate the API's own, mostly from memory.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asString, isJsonObject } from '../src/base/json/index.ts';
import type { RequestProblems } from './request-problems.ts';
import { checkContents, refuseUnknown } from './gemini-history.ts';
import { camel } from './gemini-json.ts';
import type { SimTraits } from './models.ts';

const BODY_KEYS = keys(
  'model contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent serviceTier store',
);
const CONFIG_KEYS = keys(
  'stopSequences responseMimeType responseSchema responseJsonSchema _responseJsonSchema responseModalities candidateCount ' +
    'maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs ' +
    'enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution',
);
const THINKING_KEYS = keys('includeThoughts thinkingBudget thinkingLevel');
const TOOL_KEYS = keys(
  'functionDeclarations googleSearch googleSearchRetrieval codeExecution computerUse urlContext fileSearch mcpServers googleMaps',
);
const FUNCTION_KEYS = keys(
  'name description behavior parameters parametersJsonSchema response responseJsonSchema',
);
const TOOL_CONFIG_KEYS = keys('functionCallingConfig retrievalConfig includeServerSideToolInvocations');
const CALLING_KEYS = keys('mode allowedFunctionNames streamFunctionCallArguments');
const MODES = ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'];
const LEVELS = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
/** Numeric members of the configuration, with minimum and maximum. */
const RANGES: readonly (readonly [name: string, least: number, most: number])[] = [
  ['temperature', 0, 2],
  ['topP', 0, 1],
  ['topK', 1, Infinity],
  ['maxOutputTokens', 1, Infinity],
  ['candidateCount', 1, 8],
  ['presencePenalty', -2, 2],
  ['frequencyPenalty', -2, 2],
  ['logprobs', 0, 20],
  ['seed', -2_147_483_648, 2_147_483_647],
];
const MOST_STOPS = 5;
const PATH = 'generation_config';

function keys(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

/** Adds the problems of a `generateContent` request. */
export function checkGemini(
  body: JsonObject,
  traits: SimTraits,
  _headers: Headers,
  problems: RequestProblems,
): void {
  const request = camel(body);
  refuseUnknown(request, BODY_KEYS, '', problems);
  checkContents(request['contents'], traits, problems);
  const system = request['systemInstruction'];
  if (system !== undefined && asArray(camel(system)['parts']).length === 0)
    problems.add(
      "Invalid value at 'system_instruction' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)",
      'system_instruction',
    );
  checkConfig(camel(request['generationConfig']), traits, problems);
  checkTools(request, traits, problems);
}

function checkConfig(config: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  refuseUnknown(config, CONFIG_KEYS, PATH, problems);
  for (const [name, least, most] of RANGES) {
    const value = config[name];
    const number = asNumber(value);
    if (value !== undefined && (number === undefined || number < least || number > most))
      problems.add(
        `* GenerateContentRequest.${PATH}.${name}: ${name} must be in the range [${least}, ${most}].`,
        `${PATH}.${name}`,
      );
  }
  if (asArray(config['stopSequences']).length > MOST_STOPS)
    problems.add(`The maximum number of stop sequences is ${MOST_STOPS}.`, `${PATH}.stop_sequences`);
  if (config['logprobs'] !== undefined && config['responseLogprobs'] !== true)
    problems.add('Logprobs requires response_logprobs to be true.', `${PATH}.logprobs`);
  checkFormat(config, traits, problems);
  checkThinking(config['thinkingConfig'], traits, problems);
}

function checkFormat(config: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const type = asString(config['responseMimeType']) ?? 'text/plain';
  const schemas = ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].filter(
    (name) => config[name] !== undefined,
  );
  if (type !== 'text/plain' && type !== 'application/json')
    problems.add(
      `* GenerateContentRequest.${PATH}.response_mime_type: allowed mimetypes are \`text/plain\` and \`application/json\`.`,
      `${PATH}.response_mime_type`,
    );
  if (schemas.length > 1)
    problems.add('Only one of response_schema and response_json_schema may be set.', PATH);
  if (schemas.length > 0 && type !== 'application/json')
    problems.add(
      `* GenerateContentRequest.${PATH}.response_schema: only allowed when the mimetype is \`application/json\`.`,
      `${PATH}.response_schema`,
    );
  if (type === 'application/json' && !traits.jsonSchema)
    problems.add(`JSON mode is not enabled for models/${traits.name}`, `${PATH}.response_mime_type`);
}

function checkThinking(value: JsonValue | undefined, traits: SimTraits, problems: RequestProblems): void {
  if (value === undefined) return;
  const thinking = camel(value);
  const path = `${PATH}.thinking_config`;
  refuseUnknown(thinking, THINKING_KEYS, path, problems);
  const { thinkingBudget: budget, thinkingLevel: level } = thinking;
  if (traits.reasoning === 'none') problems.add('Thinking is not supported for this model.', path);
  if (budget !== undefined && level !== undefined)
    problems.add('You can only set only one of thinking budget and thinking level.', path);
  if (level !== undefined && !LEVELS.includes((asString(level) ?? '').toUpperCase()))
    problems.add(`Invalid value at '${path}.thinking_level'`, `${path}.thinking_level`);
  if (budget !== undefined && (asNumber(budget) ?? -2) < -1)
    problems.add(`Invalid value at '${path}.thinking_budget'`, `${path}.thinking_budget`);
  if (budget === 0 && traits.reasoning === 'mandatory')
    problems.add('Budget 0 is invalid. This model only works in thinking mode.', `${path}.thinking_budget`);
}

function checkTools(request: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const names = new Set<string>();
  let isHosted = false;
  asArray(request['tools']).forEach((given, i) => {
    const tool = camel(given);
    refuseUnknown(tool, TOOL_KEYS, `tools[${i}]`, problems);
    const { functionDeclarations, ...others } = tool;
    isHosted ||= Object.keys(others).length > 0;
    asArray(functionDeclarations).forEach((declared, j) =>
      checkFunction(camel(declared), `tools[${i}].function_declarations[${j}]`, names, problems),
    );
  });
  if ((names.size > 0 || isHosted) && !traits.tools)
    problems.add('Function calling is not enabled for this model.', 'tools');
  const config = camel(request['toolConfig']);
  refuseUnknown(config, TOOL_CONFIG_KEYS, 'tool_config', problems);
  if (names.size > 0 && isHosted && config['includeServerSideToolInvocations'] !== true)
    problems.add(
      'Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.',
      'tool_config',
    );
  checkCalling(camel(config['functionCallingConfig']), names, problems);
}

function checkFunction(
  declared: JsonObject,
  path: string,
  names: Set<string>,
  problems: RequestProblems,
): void {
  refuseUnknown(declared, FUNCTION_KEYS, path, problems);
  const name = asString(declared['name']) ?? '';
  if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(name))
    problems.add(
      `* GenerateContentRequest.${path}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
      `${path}.name`,
    );
  if (names.has(name)) problems.add(`Duplicate function declaration found: ${name}`, path);
  names.add(name);
  const { parameters, parametersJsonSchema: schema } = declared;
  if (parameters !== undefined && schema !== undefined)
    problems.add('Only one of parameters and parameters_json_schema may be set.', path);
  for (const given of [parameters, schema])
    if (given !== undefined && !isJsonObject(given))
      problems.add(`Invalid value at '${path}.parameters'`, path);
}

function checkCalling(calling: JsonObject, names: ReadonlySet<string>, problems: RequestProblems): void {
  const path = 'tool_config.function_calling_config';
  refuseUnknown(calling, CALLING_KEYS, path, problems);
  const mode = (asString(calling['mode']) ?? 'AUTO').toUpperCase();
  if (!MODES.includes(mode)) problems.add(`Invalid value at '${path}.mode'`, `${path}.mode`);
  const allowed = asArray(calling['allowedFunctionNames']);
  if (allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    problems.add('Allowed function names should only be set when the mode is ANY or VALIDATED.', path);
  for (const name of allowed)
    if (typeof name !== 'string' || !names.has(name))
      problems.add(`Allowed function name ${String(name)} is not declared.`, path);
}
