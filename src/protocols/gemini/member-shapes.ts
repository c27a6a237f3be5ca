// The members of the nodes in a `generateContent` body, in lower camel case, as far as they have a canonical form. The
// decoder reports all others; an upstream of this protocol gets them with the raw form of the node.
import type { JsonObject } from '../../base/json/index.ts';
import { members, rewritten, type MemberShape } from '../members/member-shape.ts';
import { camelMembers } from './camel-members.ts';
import { CONFIG_TABLE } from './fields.ts';

const MEDIA = {
  inlineData: members('mimeType data'),
  fileData: members('mimeType fileUri displayName'),
};
const TEXT = members('text thought thoughtSignature');
const THOUGHT = rewritten('text thought thoughtSignature');
const MEDIA_PART = members('inlineData fileData thought thoughtSignature', MEDIA);
const CALL = members('functionCall thoughtSignature', { functionCall: members('id name args') });
const RESPONSE = members('functionResponse thoughtSignature', {
  functionResponse: members('id name response parts', { parts: members('inlineData fileData', MEDIA) }),
});

/** Parts, by the member that tells their kind; others are known by their raw form alone. */
function partShape(given: JsonObject): MemberShape | undefined {
  const part = camelMembers(given);
  if (part['text'] !== undefined) return part['thought'] === true ? THOUGHT : TEXT;
  if (part['functionCall'] !== undefined) return CALL;
  if (part['functionResponse'] !== undefined) return RESPONSE;
  return part['inlineData'] === undefined && part['fileData'] === undefined ? undefined : MEDIA_PART;
}

/** `generationConfig`, as far as it has a canonical form; what else it holds has its own place in the request. */
export const CONFIG_SHAPE: MemberShape = { known: CONFIG_TABLE.named('supported'), inside: {} };
export const THINKING_SHAPE = members('includeThoughts thinkingBudget thinkingLevel');
export const TOOL_CONFIG_SHAPE = members('functionCallingConfig');
export const CALLING_SHAPE = members('mode allowedFunctionNames');

const FUNCTIONS = { functionDeclarations: members('name description parameters parametersJsonSchema') };

/** Every other member of an element of `tools` is a hosted tool. */
function toolShape(tool: JsonObject): MemberShape {
  return { known: new Set(Object.keys(camelMembers(tool))), inside: FUNCTIONS };
}

/** The body of a request, below its top. What its configurations hold besides has its own place in the request. */
export const REQUEST_SHAPE = members('', {
  contents: rewritten('role parts', { parts: partShape }),
  systemInstruction: rewritten('role parts', { parts: rewritten('text') }),
  tools: toolShape,
});
