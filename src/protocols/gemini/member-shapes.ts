// Shapes of the nodes in a `generateContent` body, in lower camel case: the members with a canonical form. The decoder
// reports all others; upstreams of this protocol get them with the raw form of the node.
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

/** Returns the shape of a part by the member that determines its kind. Other parts have only a raw form. */
function partShape(given: JsonObject): MemberShape | undefined {
  const part = camelMembers(given);
  if (part['text'] !== undefined) return part['thought'] === true ? THOUGHT : TEXT;
  if (part['functionCall'] !== undefined) return CALL;
  if (part['functionResponse'] !== undefined) return RESPONSE;
  return part['inlineData'] === undefined && part['fileData'] === undefined ? undefined : MEDIA_PART;
}

/** `generationConfig`. Its members without a canonical form are stored in `extra`. */
export const CONFIG_SHAPE: MemberShape = { known: CONFIG_TABLE.named('supported'), inside: {} };
export const THINKING_SHAPE = members('includeThoughts thinkingBudget thinkingLevel');
export const TOOL_CONFIG_SHAPE = members('functionCallingConfig');
export const CALLING_SHAPE = members('mode allowedFunctionNames');

const FUNCTIONS = { functionDeclarations: members('name description parameters parametersJsonSchema') };

/** Returns the shape of an element of `tools`. Every other member is a hosted tool. */
function toolShape(tool: JsonObject): MemberShape {
  return { known: new Set(Object.keys(camelMembers(tool))), inside: FUNCTIONS };
}

/** Body of a request, below its top level. Unknown members of its configurations are stored in `extra`. */
export const REQUEST_SHAPE = members('', {
  contents: rewritten('role parts', { parts: partShape }),
  systemInstruction: rewritten('role parts', { parts: rewritten('text') }),
  tools: toolShape,
});
